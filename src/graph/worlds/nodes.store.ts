/** The directory of nodes by id. A lookup is one indexed read, and is cached, because a node's type and owner never change (D-02). */
import type { NodeRef } from "#auth/token";
import { type IdMinter, type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

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

/** The most new ids that are tried. A world file uses at most a few of the ids that the world makes, so more refusals have another cause. */
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

/** The SHA-256 of a token's value in hex, found by the token's id. */
export async function findTokenHash(reader: Reader, id: string): Promise<string | undefined> {
  return (await reader.get<{ hash: string }>(sql`SELECT t.hash FROM tokens t WHERE t.id = ${id}`))?.hash;
}
