/** The directory: which node an id is. One indexed read, cached; a node's type and owner never change (D-02). */
import type { NodeRef } from "#auth/node-ref";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

interface NodeRow extends Row {
  id: string;
  type: string;
  owner: string;
}

export const nodeFact = "node";

const nodeOfId = (id: NodeId) => sql`SELECT CAST(n.id AS TEXT) AS id, n.type, CAST(n.owner AS TEXT) AS owner FROM nodes n WHERE n.id = ${id}`;

const nodeOf = (row: NodeRow | undefined): NodeRef | undefined =>
  row === undefined ? undefined : { id: nodeId(row.id), type: row.type, owner: nodeId(row.owner) };

export const findNode = async (reader: Reader, id: NodeId): Promise<NodeRef | undefined> => nodeOf(await reader.get<NodeRow>(nodeOfId(id)));

/** Undefined also where the store can only return a promise. */
export const findNodeAtOnce = (reader: Reader, id: NodeId): NodeRef | undefined => nodeOf(reader.getAtOnce?.<NodeRow>(nodeOfId(id)));

/** Returns whether the id was free. */
export const insertNode = (tx: Transaction, node: NodeRef): Promise<boolean> =>
  tx.insertNew(sql`INSERT INTO nodes (id, type, owner) VALUES (${node.id}, ${node.type}, ${node.owner})`);

export async function deleteNode(tx: Transaction, id: NodeId): Promise<void> {
  await tx.runAny(sql`DELETE FROM nodes WHERE id = ${id}`);
  tx.invalidate(nodeFact, id);
}
