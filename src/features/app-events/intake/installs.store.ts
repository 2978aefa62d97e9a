/** Installs: one for each app and device (I1-30, D-71). They stay, because a device's first install counts once, until a person is erased. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, sql } from "#storage/sql";
import { inLists, insertRows, rowStatement } from "../log/rows.store.ts";

export async function findInstalled(reader: Reader, app: NodeId, identities: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { marks, values } of inLists(identities)) {
    const statement = append(sql`SELECT i.identity FROM app_installs i WHERE i.app = ${app}`, `AND i.identity IN ${marks}`, values);
    for (const { identity } of await reader.all<{ identity: string }>(statement)) found.add(identity);
  }
  return found;
}

const insertion = rowStatement(2);

export function insertInstalled(tx: Transaction, app: NodeId, identities: readonly string[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_installs (app, identity)`,
    insertion,
    identities.flatMap((identity) => [app, identity]),
  );
}

/** Of a person's devices, for all apps. */
export async function deleteInstalled(tx: Transaction, identities: readonly string[]): Promise<number> {
  let deleted = 0;
  for (const { marks, values } of inLists(identities))
    deleted += await tx.run(append(sql`DELETE FROM app_installs`, `WHERE identity IN ${marks}`, values));
  return deleted;
}
