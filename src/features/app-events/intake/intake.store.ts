/** The distinct event names of an app (LIM-1 to LIM-3, D-72), and its installs. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, sql } from "#storage/sql";
import { inLists, insertRows, rowStatement } from "../log/rows.store.ts";

/** A cached fact: `{app} {name}` → whether the name is active. */
export const eventNameFact = "event_name";
export const eventNameKey = (app: NodeId, name: string): string => `${app} ${name}`;

interface NameRow {
  readonly name: string;
  readonly active: number;
  [column: string]: string | number;
}

export async function findNames(reader: Reader, app: NodeId, names: readonly string[]): Promise<Map<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const { marks, values } of inLists(names)) {
    const rows = await reader.all<NameRow>(
      append(sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app}`, `AND n.name IN ${marks}`, values),
    );
    for (const { name, active } of rows) found.set(name, active === 1);
  }
  return found;
}

/** Called only when a new name appears. An app has at most a thousand active names unless configured otherwise. */
export async function countActiveNames(reader: Reader, app: NodeId): Promise<number> {
  return (
    (await reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM app_event_names n WHERE n.app = ${app} AND n.active = 1`))?.count ?? 0
  );
}

const nameInsertion = rowStatement(3);

export function insertNames(tx: Transaction, app: NodeId, names: readonly string[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_event_names (app, name, active)`,
    nameInsertion,
    names.flatMap((name) => [app, name, 1]),
  );
}

/** Returns whether the app has such a name, active or not. */
export async function deactivateName(tx: Transaction, app: NodeId, name: string): Promise<boolean> {
  const changed = await tx.run(sql`UPDATE app_event_names SET active = 0 WHERE app = ${app} AND name = ${name}`);
  tx.invalidate(eventNameFact, eventNameKey(app, name));
  return changed === 1;
}

export function listNames(reader: Reader, app: NodeId): Promise<NameRow[]> {
  return reader.all<NameRow>(sql`SELECT n.name, n.active FROM app_event_names n WHERE n.app = ${app} ORDER BY n.name`);
}

/** Installs: one for each app and device (I1-30, D-71). They stay, because a device's first install counts once, until a person is erased. */
export async function findInstalled(reader: Reader, app: NodeId, identities: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { marks, values } of inLists(identities)) {
    const statement = append(sql`SELECT i.identity FROM app_installs i WHERE i.app = ${app}`, `AND i.identity IN ${marks}`, values);
    for (const { identity } of await reader.all<{ identity: string }>(statement)) found.add(identity);
  }
  return found;
}

const installInsertion = rowStatement(2);

export function insertInstalled(tx: Transaction, app: NodeId, identities: readonly string[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_installs (app, identity)`,
    installInsertion,
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
