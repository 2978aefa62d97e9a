/** The distinct event names of an app (LIM-1 to LIM-3, D-72), and its installs. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { allInList, inLists, insertRows } from "../log/rows.store.ts";

interface NameRow {
  readonly name: string;
  readonly active: number;
  [column: string]: string | number;
}

/** Whether each of these names is active; names that the app does not have are left out. */
export async function findNames(reader: Reader, app: NodeId, names: readonly string[]): Promise<Map<string, boolean>> {
  const rows = await allInList<NameRow>(reader, sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app} AND n.name`, names);
  return new Map(rows.map(({ name, active }) => [name, active === 1]));
}

/** Called only when a new name appears. An app has at most a thousand active names unless configured otherwise. */
export async function countActiveNames(reader: Reader, app: NodeId): Promise<number> {
  return (
    (await reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM app_event_names n WHERE n.app = ${app} AND n.active = 1`))?.count ?? 0
  );
}

export function insertNames(tx: Transaction, app: NodeId, names: readonly string[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_event_names (app, name, active)`,
    3,
    names.flatMap((name) => [app, name, 1]),
  );
}

/** Returns whether the app has such a name, active or not. */
export async function deactivateName(tx: Transaction, app: NodeId, name: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE app_event_names SET active = 0 WHERE app = ${app} AND name = ${name}`)) === 1;
}

export function listNames(reader: Reader, app: NodeId): Promise<NameRow[]> {
  return reader.all<NameRow>(sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app} ORDER BY n.name`);
}

/** Installs: one for each app and device (I1-30, D-71). They stay, because a device's first install counts once, until a person is erased. */
export async function findInstalled(reader: Reader, app: NodeId, identities: readonly string[]): Promise<Set<string>> {
  const installs = sql`SELECT i.identity FROM app_installs i WHERE i.app = ${app} AND i.identity`;
  return new Set((await allInList<{ identity: string }>(reader, installs, identities)).map(({ identity }) => identity));
}

export function insertInstalled(tx: Transaction, app: NodeId, identities: readonly string[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_installs (app, identity)`,
    2,
    identities.flatMap((identity) => [app, identity]),
  );
}

/** Of a person's devices, for all apps. */
export async function deleteInstalled(tx: Transaction, identities: readonly string[]): Promise<number> {
  let deleted = 0;
  for (const statement of inLists(sql`DELETE FROM app_installs WHERE identity`, identities)) deleted += await tx.run(statement);
  return deleted;
}
