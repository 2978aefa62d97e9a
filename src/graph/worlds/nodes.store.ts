/**
 * The directory that lists all nodes by their ids, and the tables of nodes. A lookup in the directory of nodes is one indexed read. Lookups of nodes
 * are cached, because a node's type and owner never change (D-02).
 */
import type { NodeRef } from "#auth/token";
import { type IdMinter, type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { allWithIds } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, placeholders, type Row, type Sql, sql } from "#storage/sql";

interface NodeRow extends Row {
  id: string;
  type: string;
  owner: string;
}

export const nodeFact = "node";

export async function findNode(reader: Reader, id: NodeId): Promise<NodeRef | undefined> {
  const row = await reader.get<NodeRow>(sql`SELECT CAST(n.id AS TEXT) AS id, n.type, CAST(n.owner AS TEXT) AS owner FROM nodes n WHERE n.id = ${id}`);
  return row === undefined ? undefined : { id: nodeId(row.id), type: row.type, owner: nodeId(row.owner) };
}

/** Stores a node. Returns whether the node's id was free. */
export const insertNode = async (tx: Transaction, node: NodeRef): Promise<boolean> =>
  (await tx.run(sql`INSERT INTO nodes (id, type, owner) VALUES (${node.id}, ${node.type}, ${node.owner}) ON CONFLICT DO NOTHING`)) === 1;

export async function deleteNode(tx: Transaction, id: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM nodes WHERE id = ${id}`);
  tx.invalidate(nodeFact, id);
}

/**
 * The greatest number of new ids that the server tries for one node. A world file contains at most a few of the ids that the world would make, so if
 * `insert` refuses more ids, it has another reason.
 */
const TRIES_MAX = 1_000;

/** Calls `insert` with new ids until one is free, and returns the free id. `insert` must return whether the given id was free. */
export async function insertMinted(ids: IdMinter, insert: (id: NodeId) => Promise<boolean>): Promise<NodeId> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const id = ids.mint();
    if (await insert(id)) return id;
  }
  throw new Error(`none of ${TRIES_MAX} minted ids was free`);
}

export async function hasAnything(reader: Reader): Promise<boolean> {
  const node = await reader.get(sql`SELECT 1 AS one FROM nodes LIMIT 1`);
  return node !== undefined || (await reader.get(sql`SELECT 1 AS one FROM tokens LIMIT 1`)) !== undefined;
}

/** The greatest number of nodes in a world whose types are read from the directory. */
const TYPED_NODES_MAX = 500;

/** The types of all nodes in the world. Undefined if the world has so many nodes that a query of each node type's table takes less time. */
export async function typesOfFewNodes(reader: Reader): Promise<ReadonlySet<string> | undefined> {
  const rows = await reader.all<{ type: string }>(sql`SELECT n.type FROM nodes n LIMIT ${TYPED_NODES_MAX}`);
  return rows.length === TYPED_NODES_MAX ? undefined : new Set(rows.map(({ type }) => type));
}

/** Returns the SHA-256 of a token's value in hex, found by the token's id. */
export async function findTokenHash(reader: Reader, id: string): Promise<string | undefined> {
  return (await reader.get<{ hash: string }>(sql`SELECT t.hash FROM tokens t WHERE t.id = ${id}`))?.hash;
}

/**
 * The table of a node type. The SQL statements that every node type needs are made from the names of the table's columns; a feature writes only its
 * other statements. The functions of a table have the names that a section of a world file requires, so a section can use them directly.
 */
interface TableParts {
  readonly table: string;
  readonly nodeType: string;
  /** The columns of the table that have ids of other nodes. */
  readonly ids?: readonly string[];
  readonly columns: readonly string[];
  /** The name under which facts about the type's nodes are cached. The key of a cached fact about a node is the node's id. */
  readonly fact?: string;
}

/**
 * The functions that all tables of nodes have. `keys` are the columns of the table's primary key, the last of which is `id`. `owner` is the column with
 * the id of the node's owner.
 */
export function keyedTable<R extends Row>({ table, nodeType, ids = [], columns, fact }: TableParts, keys: readonly string[], owner: string) {
  const changing = [...ids, ...columns];
  const names = [...keys, ...changing];
  const statement = (text: string): Sql => ({ query: { text }, values: [] });
  const read = [...[...keys, ...ids].map((name) => `CAST(t.${name} AS TEXT) AS ${name}`), ...columns.map((name) => `t.${name}`)];
  const select = statement(`SELECT ${read.join(", ")} FROM ${table} t`);
  const insertion = statement(`INSERT INTO ${table} (${names.join(", ")}) VALUES ${placeholders(names.length)}`);
  const isKey = keys.map((name) => `${name} = ?`).join(" AND ");
  const update = statement(`UPDATE ${table} SET ${changing.map((name) => `${name} = ?`).join(", ")} WHERE ${isKey}`);
  const deletion = statement(`DELETE FROM ${table} WHERE ${isKey}`);
  const ofKey = `WHERE ${keys.map((name) => `t.${name} = ?`).join(" AND ")}`;
  const all = append(select, `WHERE t.${keys[0]} > 0`);
  const oldestFirst = ordered("ascending", ...keys.map((name) => `t.${name}`));
  const valuesOf = (row: R, of: readonly string[]) => of.map((name) => row[name] ?? null);
  const forget = (tx: Transaction, id: string) => {
    if (fact !== undefined) tx.invalidate(fact, id);
  };
  return {
    nodeType,
    /** A SELECT of all columns of the table under the alias `t`. */
    select,
    findBy: (reader: Reader, key: readonly string[]): Promise<R | undefined> => reader.get<R>(append(select, ofKey, key)),
    /** Lists all nodes of the type, for the control API. */
    list: (reader: Reader, page: PageRequest): Promise<ListPage<R>> => readPage<R>(reader, all, oldestFirst, page),
    /** Stores a new node. Returns false without storing the node if another node already has its id. */
    async insert(tx: Transaction, row: R): Promise<boolean> {
      if (!(await insertNode(tx, { id: nodeId(String(row.id)), type: nodeType, owner: nodeId(String(row[owner])) }))) return false;
      await tx.runOne({ ...insertion, values: valuesOf(row, names) });
      return true;
    },
    /** Updates all columns of a stored node except its owner and id. */
    async replace(tx: Transaction, row: R): Promise<void> {
      await tx.runOne({ ...update, values: [...valuesOf(row, changing), ...valuesOf(row, keys)] });
      forget(tx, String(row.id));
    },
    async removeBy(tx: Transaction, key: readonly string[], id: string): Promise<boolean> {
      if ((await tx.run({ ...deletion, values: key })) === 0) return false;
      await deleteNode(tx, nodeId(id));
      forget(tx, id);
      return true;
    },
  };
}

/**
 * Makes the table for nodes that are found by their id alone. The nodes own themselves, such as pages, unless `owner` is the column of `ids` that has the
 * id of the owner.
 */
export function nodeTable<R extends Row>({ owner = "id", nameColumn = "name", ...parts }: TableParts & { owner?: string; nameColumn?: string }) {
  const { findBy, removeBy, ...table } = keyedTable<R>(parts, ["id"], owner);
  const names: Sql = { query: { text: `SELECT CAST(t.id AS TEXT) AS id, t.${nameColumn} AS name FROM ${parts.table} t WHERE t.id > 0` }, values: [] };
  return {
    ...table,
    find: (reader: Reader, id: string): Promise<R | undefined> => findBy(reader, [id]),
    /** Returns a map from ids to the names of the nodes. The map leaves out ids of missing nodes, and of nodes of another type. */
    async findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await allWithIds<{ id: string; name: string }>(reader, names, "t.id", ids);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
    /** Deletes a node. Returns false if the node does not exist. */
    remove: (tx: Transaction, id: string): Promise<boolean> => removeBy(tx, [id], id),
  };
}

/**
 * Makes the table for nodes that belong to an owner, e.g. to a page. `owner` is the column with the owner's id, which is the first column of the
 * table's primary key.
 */
export function ownedNodeTable<R extends Row>({ owner, ...parts }: TableParts & { readonly owner: string }) {
  const { findBy, removeBy, ...table } = keyedTable<R>(parts, [owner, "id"], owner);
  const ofOwner = `WHERE t.${owner} = ?`;
  const newestFirst = ordered("descending", "t.id");
  const remove = (tx: Transaction, ownerId: NodeId, id: string): Promise<boolean> => removeBy(tx, [ownerId, id], id);
  return {
    ...table,
    owner,
    find: (reader: Reader, ownerId: NodeId, id: string): Promise<R | undefined> => findBy(reader, [ownerId, id]),
    /** Lists the nodes of an owner, newest first. */
    listOf: (reader: Reader, ownerId: NodeId, page: PageRequest): Promise<ListPage<R>> =>
      readPage<R>(reader, append(table.select, ofOwner, [ownerId]), newestFirst, page),
    /** Deletes a node. Returns false if the node does not exist. */
    remove,
    async removeAllOf(tx: Transaction, ownerId: NodeId): Promise<void> {
      for (const row of await tx.all<R>(append(table.select, ofOwner, [ownerId]))) await remove(tx, ownerId, String(row.id));
    },
  };
}
