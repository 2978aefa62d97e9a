/** Stores the distinct event names of each app (LIM-1 to LIM-3, D-72). */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { allInList, insertRows } from "../log/rows.store.ts";

interface NameRow {
  readonly name: string;
  readonly active: number;
  [column: string]: string | number;
}

/** Returns which of the given event names the app has. In the returned map, the value of a name is true if the name is active. */
export async function findNames(reader: Reader, app: NodeId, names: readonly string[]): Promise<Map<string, boolean>> {
  const rows = await allInList<NameRow>(reader, sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app} AND n.name`, names);
  return new Map(rows.map(({ name, active }) => [name, active === 1]));
}

/**
 * Counts the app's active event names. The names are counted only if a batch has a new event name. An app has at most a thousand active names, unless
 * the app's limit was changed.
 */
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

/** Activates or deactivates an event name. Returns false if the app does not have the name. */
export async function setNameActive(tx: Transaction, app: NodeId, name: string, isActive: boolean): Promise<boolean> {
  return (await tx.run(sql`UPDATE app_event_names SET active = ${isActive ? 1 : 0} WHERE app = ${app} AND name = ${name}`)) === 1;
}

export function listNames(reader: Reader, app: NodeId): Promise<NameRow[]> {
  return reader.all<NameRow>(sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app} ORDER BY n.name`);
}
