import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import { foldCase } from "#kernel/text";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

interface LabelWritesPort {
  /** Detaches all labels from a person who is removed from the page. */
  detachAll(tx: Transaction, page: NodeId, psid: string): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    label_writes: LabelWritesPort;
  }
}

export const customLabelMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE labels (page BIGINT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, id)) WITHOUT ROWID",
      // The names of labels are in a table of their own. With an index on the table `labels` instead of the table `label_names`, SQLite would read
      // all labels of the page and not use the index.
      `CREATE TABLE label_names (page BIGINT NOT NULL, name_folded TEXT NOT NULL, label BIGINT NOT NULL, name TEXT NOT NULL,
        PRIMARY KEY (page, name_folded, label)) WITHOUT ROWID`,
      // D-40: the number of labels of a page is stored, because each creation checks the limit.
      "CREATE TABLE label_counts (page BIGINT PRIMARY KEY, labels INTEGER NOT NULL) WITHOUT ROWID",
      "CREATE TABLE label_users (page BIGINT NOT NULL, psid BIGINT NOT NULL, label BIGINT NOT NULL, PRIMARY KEY (page, psid, label)) WITHOUT ROWID",
      "CREATE INDEX label_users_by_label ON label_users (label, psid)",
    ],
  },
];

export interface LabelRow extends Row {
  id: string;
  page: string;
  name: string;
}

const table = ownedNodeTable<LabelRow>({ table: "labels", nodeType: "label", owner: "page", columns: ["name"] });
export const { find: findLabel, listOf: listLabelsOfPage, list: listAllLabels } = table;

const newestAttachedFirst = { columns: ["u.label"], direction: "descending", keyOf: (row: LabelRow) => [row.id] } as const;

export function listLabelsOfPerson(reader: Reader, page: NodeId, psid: NodeId, request: PageRequest): Promise<ListPage<LabelRow>> {
  return readPage<LabelRow>(
    reader,
    append(table.select, "JOIN label_users u ON u.page = t.page AND u.label = t.id WHERE u.page = ? AND u.psid = ?", [page, psid]),
    newestAttachedFirst,
    request,
  );
}

/** Returns the labels of a page that have this name. The comparison of names ignores upper and lower case. */
export function findLabelsByName(reader: Reader, page: NodeId, name: string): Promise<{ id: string; name: string }[]> {
  return reader.all(sql`
    SELECT CAST(n.label AS TEXT) AS id, n.name FROM label_names n
    WHERE n.page = ${page} AND n.name_folded = ${foldCase(name)} ORDER BY n.label`);
}

/** Adds one to the page's number of labels. */
export const countLabel = (tx: Transaction, page: NodeId): Promise<void> =>
  tx.runOne(sql`
    INSERT INTO label_counts (page, labels) VALUES (${page}, 1) ON CONFLICT (page) DO UPDATE SET labels = label_counts.labels + 1`);

/**
 * Adds one to the page's number of labels if a new label may have this name. Returns false, and writes nothing, if the page already has `most` labels
 * or a label with this name.
 */
export async function reservePlace(tx: Transaction, page: NodeId, name: string, { most, ignoresCase }: NameRules): Promise<boolean> {
  // One SQL statement checks and changes the page's number of labels, because other writes of the page wait for the lock during each round trip to
  // the database.
  const changed = await tx.run(sql`
    INSERT INTO label_counts (page, labels)
    SELECT CAST(${page} AS BIGINT), 1 WHERE NOT EXISTS (
      SELECT 1 FROM label_names n
      WHERE n.page = ${page} AND n.name_folded = ${foldCase(name)} AND (n.name = ${name} OR ${ignoresCase ? 1 : 0} = 1))
    ON CONFLICT (page) DO UPDATE SET labels = label_counts.labels + 1 WHERE label_counts.labels < CAST(${most} AS BIGINT)`);
  return changed === 1;
}

interface NameRules {
  /** The greatest number of labels of a page; at least 1. */
  readonly most: number;
  readonly ignoresCase: boolean;
}

/**
 * Stores a new label. The caller must also add the label to the page's number of labels, with `reservePlace` or `countLabel`. Returns false, and
 * stores nothing, if the label's id is used already.
 */
export async function insertLabel(tx: Transaction, page: NodeId, id: NodeId, name: string): Promise<boolean> {
  if (!(await table.insert(tx, { page, id, name }))) return false;
  await insertName(tx, page, id, name);
  return true;
}

const insertName = (tx: Transaction, page: NodeId, id: string, name: string): Promise<void> =>
  tx.runOne(sql`INSERT INTO label_names (page, name_folded, label, name) VALUES (${page}, ${foldCase(name)}, ${id}, ${name})`);

/** Deletes the label's row in `label_names`. Returns false if the label does not exist. */
async function deleteName(tx: Transaction, page: NodeId, id: string): Promise<boolean> {
  const label = await findLabel(tx, page, id);
  if (label === undefined) return false;
  await tx.run(sql`DELETE FROM label_names WHERE page = ${page} AND name_folded = ${foldCase(label.name)} AND label = ${id}`);
  return true;
}

/** Renames a label. Returns false if the label does not exist. */
export async function renameLabel(tx: Transaction, page: NodeId, id: string, name: string): Promise<boolean> {
  if (!(await deleteName(tx, page, id))) return false;
  await table.replace(tx, { page, id, name });
  await insertName(tx, page, id, name);
  return true;
}

/** Deletes a label, and detaches it from all people (D-40). Returns false if the label does not exist. */
export async function deleteLabel(tx: Transaction, page: NodeId, id: string): Promise<boolean> {
  // If two deletions of a label run at the same time, only one of them finds the label's row.
  if (!(await deleteName(tx, page, id))) return false;
  if (!(await table.remove(tx, page, id))) return false;
  await tx.run(sql`DELETE FROM label_users WHERE label = ${id}`);
  await tx.runOne(sql`UPDATE label_counts SET labels = labels - 1 WHERE page = ${page}`);
  return true;
}

/** Attaches a label to a person. Returns false, and changes nothing, if the label is attached to the person already. */
export async function attachLabel(tx: Transaction, page: NodeId, label: string, psid: string): Promise<boolean> {
  const changed = await tx.run(sql`INSERT INTO label_users (page, label, psid) VALUES (${page}, ${label}, ${psid}) ON CONFLICT DO NOTHING`);
  return changed === 1;
}

/** Detaches a label from a person. Returns false if the label was not attached to the person. */
export async function detachLabel(tx: Transaction, page: NodeId, label: string, psid: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM label_users WHERE page = ${page} AND label = ${label} AND psid = ${psid}`)) === 1;
}

/** Detaches all labels from a person who is removed from the page. */
export async function detachAll(tx: Transaction, page: NodeId, psid: string): Promise<void> {
  await tx.run(sql`DELETE FROM label_users WHERE page = ${page} AND psid = ${psid}`);
}

export async function listUsersOfLabel(reader: Reader, label: string): Promise<string[]> {
  const rows = await reader.all<{ psid: string }>(
    sql`SELECT CAST(u.psid AS TEXT) AS psid FROM label_users u WHERE u.label = ${label} ORDER BY u.psid`,
  );
  return rows.map(({ psid }) => psid);
}

export async function deleteLabelsOfPage(tx: Transaction, page: NodeId): Promise<void> {
  const labels = await tx.all<{ id: string }>(sql`SELECT CAST(l.id AS TEXT) AS id FROM labels l WHERE l.page = ${page}`);
  for (const { id } of labels) await deleteLabel(tx, page, id);
  await tx.run(sql`DELETE FROM label_counts WHERE page = ${page}`);
}
