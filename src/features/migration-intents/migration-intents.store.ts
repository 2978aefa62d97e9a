import { nodeTable, ownedNodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import type { Status } from "./migration-intents.states.ts";

export const migrationIntentMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE solutions (id BIGINT PRIMARY KEY, name TEXT NOT NULL, owner_app BIGINT NOT NULL) WITHOUT ROWID",
      `CREATE TABLE migration_intents (waba BIGINT NOT NULL, id BIGINT NOT NULL, destination_waba BIGINT, solution BIGINT, status TEXT NOT NULL,
        PRIMARY KEY (waba, id)) WITHOUT ROWID`,
      // These indexes find the solutions and intents of a deleted account, solution or app.
      "CREATE INDEX solutions_by_owner_app ON solutions (owner_app)",
      "CREATE INDEX migration_intents_by_destination ON migration_intents (destination_waba) WHERE destination_waba IS NOT NULL",
      "CREATE INDEX migration_intents_by_solution ON migration_intents (solution) WHERE solution IS NOT NULL",
    ],
  },
];

export interface IntentRow extends Row {
  /** The source account, which owns the intent. */
  waba: string;
  id: string;
  destination_waba: string | null;
  solution: string | null;
  status: Status;
}

export interface SolutionRow extends Row {
  id: string;
  name: string;
  owner_app: string;
}

export const intentTable = ownedNodeTable<IntentRow>({
  table: "migration_intents",
  nodeType: "migration_intent",
  owner: "waba",
  ids: ["destination_waba", "solution"],
  columns: ["status"],
});

export const solutionTable = nodeTable<SolutionRow>({ table: "solutions", nodeType: "solution", ids: ["owner_app"], columns: ["name"] });

/** The accounts whose subscribed apps may see an intent, and the app that owns the intent's solution and may also see it (D-58). */
interface Parties extends Row {
  waba: string;
  destination_waba: string | null;
  solution_owner: string | null;
}

export const findParties = (reader: Reader, waba: NodeId, id: NodeId): Promise<Parties | undefined> =>
  reader.get<Parties>(sql`
    SELECT CAST(i.waba AS TEXT) AS waba, CAST(i.destination_waba AS TEXT) AS destination_waba, CAST(s.owner_app AS TEXT) AS solution_owner
    FROM migration_intents i LEFT JOIN solutions s ON s.id = i.solution WHERE i.waba = ${waba} AND i.id = ${id}`);

/**
 * Deletes the intents of a removed account and the solutions of a removed app. Intents that are not deleted lose only their reference to the removed
 * account, solution or app.
 */
export async function forgetParty(tx: Transaction, party: NodeId): Promise<void> {
  await intentTable.removeAllOf(tx, party);
  await tx.run(sql`UPDATE migration_intents SET destination_waba = NULL WHERE destination_waba = ${party}`);
  await tx.run(sql`UPDATE migration_intents SET solution = NULL WHERE solution = ${party}`);
  const solutions = await tx.all<{ id: string }>(sql`SELECT CAST(s.id AS TEXT) AS id FROM solutions s WHERE s.owner_app = ${party}`);
  for (const { id } of solutions) {
    await solutionTable.remove(tx, id);
    await tx.run(sql`UPDATE migration_intents SET solution = NULL WHERE solution = ${id}`);
  }
}

/**
 * D-306: returns whether the app may see the solution. The app may see the solution if the app owns the solution, or if an intent from or to the
 * account refers to the solution.
 */
export async function isSolutionSeen(reader: Reader, solution: NodeId, account: NodeId, app: NodeId): Promise<boolean> {
  const row = await reader.get(sql`
    SELECT 1 AS one FROM solutions s WHERE s.id = ${solution} AND (s.owner_app = ${app}
      OR EXISTS (SELECT 1 FROM migration_intents i WHERE i.waba = ${account} AND i.solution = s.id)
      OR EXISTS (SELECT 1 FROM migration_intents i WHERE i.destination_waba = ${account} AND i.solution = s.id))`);
  return row !== undefined;
}
