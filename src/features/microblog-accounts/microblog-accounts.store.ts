import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, type Sql, sql } from "#storage/sql";

export interface MicroblogUser extends Row {
  id: string;
  username: string;
  /** The platform user of the account; null: unknown. */
  user: string | null;
}

const LARGEST_ID = "9223372036854775807";

function selectUsers(least: string, most: string): Sql {
  return sql`
    SELECT CAST(m.id AS TEXT) AS id, m.username, CAST(m.user_id AS TEXT) AS "user" FROM microblog_users m
    WHERE m.id BETWEEN ${least} AND ${most}`;
}

export const findMicroblogUser = (reader: Reader, id: string): Promise<MicroblogUser | undefined> => reader.get<MicroblogUser>(selectUsers(id, id));

const byId = { columns: ["m.id"], direction: "ascending", keyOf: (row: MicroblogUser) => [row.id] } as const;

export const listMicroblogUsers = (reader: Reader, page: PageRequest): Promise<ListPage<MicroblogUser>> =>
  readPage<MicroblogUser>(reader, selectUsers("1", LARGEST_ID), byId, page);

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

/** Removes a user that is being deleted from its accounts, which stay. */
export async function forgetUser(tx: Transaction, user: NodeId): Promise<void> {
  await tx.runAny(sql`UPDATE microblog_users SET user_id = NULL WHERE user_id = ${user}`);
}
