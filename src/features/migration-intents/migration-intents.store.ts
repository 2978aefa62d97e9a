import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import type { Status } from "./migration-intents.states.ts";

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

const selectIntents = sql`
  SELECT CAST(i.waba AS TEXT) AS waba, CAST(i.id AS TEXT) AS id, CAST(i.destination_waba AS TEXT) AS destination_waba,
    CAST(i.solution AS TEXT) AS solution, i.status
  FROM migration_intents i`;

export const findIntent = (reader: Reader, waba: NodeId, id: string): Promise<IntentRow | undefined> =>
  reader.get<IntentRow>(append(selectIntents, "WHERE i.waba = ? AND i.id = ?", [waba, id]));

/** The nodes whose apps may see an intent (D-58). */
interface Parties extends Row {
  waba: string;
  destination_waba: string | null;
  solution_owner: string | null;
}

export const findParties = (reader: Reader, waba: NodeId, id: NodeId): Promise<Parties | undefined> =>
  reader.get<Parties>(sql`
    SELECT CAST(i.waba AS TEXT) AS waba, CAST(i.destination_waba AS TEXT) AS destination_waba, CAST(s.owner_app AS TEXT) AS solution_owner
    FROM migration_intents i LEFT JOIN solutions s ON s.id = i.solution WHERE i.waba = ${waba} AND i.id = ${id}`);

const intentsByAccount = ordered("ascending", "i.waba", "i.id");

/** Lists all intents, ordered by account, for the control API. */
export const listAllIntents = (reader: Reader, page: PageRequest): Promise<ListPage<IntentRow>> =>
  readPage<IntentRow>(reader, append(selectIntents, "WHERE i.waba > 0"), intentsByAccount, page);

/** Stores a new intent. Returns false, and stores nothing, if the intent's id is used already. */
export async function insertIntent(tx: Transaction, intent: IntentRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(intent.id), type: "migration_intent", owner: nodeId(intent.waba) }))) return false;
  await saveIntent(tx, intent);
  return true;
}

export async function saveIntent(tx: Transaction, { waba, id, destination_waba, solution, status }: IntentRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO migration_intents (waba, id, destination_waba, solution, status) VALUES (${waba}, ${id}, ${destination_waba}, ${solution}, ${status})
    ON CONFLICT (waba, id) DO UPDATE SET destination_waba = excluded.destination_waba, solution = excluded.solution, status = excluded.status`);
}

export async function deleteIntent(tx: Transaction, waba: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM migration_intents WHERE waba = ${waba} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

/**
 * Forgets a removed account, solution or app. Deletes the intents of the account and the solutions of the app; other intents only lose their
 * reference to it.
 */
export async function forgetParty(tx: Transaction, party: NodeId): Promise<void> {
  const intents = await tx.all<{ id: string }>(sql`SELECT CAST(i.id AS TEXT) AS id FROM migration_intents i WHERE i.waba = ${party}`);
  for (const { id } of intents) await deleteIntent(tx, party, id);
  await tx.run(sql`UPDATE migration_intents SET destination_waba = NULL WHERE destination_waba = ${party}`);
  await tx.run(sql`UPDATE migration_intents SET solution = NULL WHERE solution = ${party}`);
  const solutions = await tx.all<{ id: string }>(sql`SELECT CAST(s.id AS TEXT) AS id FROM solutions s WHERE s.owner_app = ${party}`);
  for (const { id } of solutions) {
    await deleteSolution(tx, id);
    await tx.run(sql`UPDATE migration_intents SET solution = NULL WHERE solution = ${id}`);
  }
}

const selectSolutions = sql`SELECT CAST(s.id AS TEXT) AS id, s.name, CAST(s.owner_app AS TEXT) AS owner_app FROM solutions s`;

export const findSolution = (reader: Reader, id: string): Promise<SolutionRow | undefined> =>
  reader.get<SolutionRow>(append(selectSolutions, "WHERE s.id = ?", [id]));

/** D-306: returns whether the app may see the solution: the app owns the solution, or an intent from or to the account has the solution. */
export async function isSolutionSeen(reader: Reader, solution: NodeId, account: NodeId, app: NodeId): Promise<boolean> {
  const row = await reader.get(sql`
    SELECT 1 AS one FROM solutions s WHERE s.id = ${solution} AND (s.owner_app = ${app}
      OR EXISTS (SELECT 1 FROM migration_intents i WHERE i.waba = ${account} AND i.solution = s.id)
      OR EXISTS (SELECT 1 FROM migration_intents i WHERE i.destination_waba = ${account} AND i.solution = s.id))`);
  return row !== undefined;
}

const solutionsById = ordered("ascending", "s.id");

export const listSolutions = (reader: Reader, page: PageRequest): Promise<ListPage<SolutionRow>> =>
  readPage<SolutionRow>(reader, append(selectSolutions, "WHERE s.id > 0"), solutionsById, page);

/** Stores a new solution. Returns false, and stores nothing, if the solution's id is used already. */
export async function insertSolution(tx: Transaction, { id, name, owner_app }: SolutionRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(id), type: "solution", owner: nodeId(id) }))) return false;
  await tx.runOne(sql`INSERT INTO solutions (id, name, owner_app) VALUES (${id}, ${name}, ${owner_app})`);
  return true;
}

export async function updateSolution(tx: Transaction, { id, name, owner_app }: SolutionRow): Promise<void> {
  await tx.runOne(sql`UPDATE solutions SET name = ${name}, owner_app = ${owner_app} WHERE id = ${id}`);
}

export async function deleteSolution(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM solutions WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}
