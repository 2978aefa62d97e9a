import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export interface MicroblogUser extends Row {
  id: string;
  username: string;
  /** The platform user of the account; null if it is not known. */
  user: string | null;
}

const select = sql`SELECT CAST(m.id AS TEXT) AS id, m.username, CAST(m.user_id AS TEXT) AS "user" FROM microblog_users m`;

export const findMicroblogUser = (reader: Reader, id: string): Promise<MicroblogUser | undefined> =>
  reader.get<MicroblogUser>(append(select, "WHERE m.id = ?", [id]));

const byId = ordered("ascending", "m.id");

export const listMicroblogUsers = (reader: Reader, page: PageRequest): Promise<ListPage<MicroblogUser>> =>
  readPage<MicroblogUser>(reader, append(select, "WHERE m.id > 0"), byId, page);

export async function insertMicroblogUser(tx: Transaction, { id, username, user }: MicroblogUser & { id: NodeId }): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "microblog_user", owner: id }))) return false;
  await tx.runOne(sql`INSERT INTO microblog_users (id, username, user_id) VALUES (${id}, ${username}, ${user})`);
  return true;
}

export async function updateMicroblogUser(tx: Transaction, { id, username, user }: MicroblogUser): Promise<void> {
  await tx.runOne(sql`UPDATE microblog_users SET username = ${username}, user_id = ${user} WHERE id = ${id}`);
}

export async function deleteMicroblogUser(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM microblog_users WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

/** Removes a deleted user from the user's microblog accounts; the accounts stay. */
export async function forgetUser(tx: Transaction, user: NodeId): Promise<void> {
  await tx.run(sql`UPDATE microblog_users SET user_id = NULL WHERE user_id = ${user}`);
}
