import { nodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

export const microblogAccountMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      "CREATE TABLE microblog_users (id BIGINT PRIMARY KEY, username TEXT NOT NULL, user_id BIGINT) WITHOUT ROWID",
      // This index finds the microblog accounts of a deleted user.
      "CREATE INDEX microblog_users_by_user ON microblog_users (user_id) WHERE user_id IS NOT NULL",
    ],
  },
];

export interface MicroblogUser extends Row {
  id: string;
  username: string;
  /** The id of the platform user who has the account; null if the world does not say which user has the account. */
  user_id: string | null;
}

export const microblogUserTable = nodeTable<MicroblogUser>({
  table: "microblog_users",
  nodeType: "microblog_user",
  nameColumn: "username",
  ids: ["user_id"],
  columns: ["username"],
});

/** Removes a deleted user from the user's microblog accounts, without deleting the accounts. */
export async function forgetUser(tx: Transaction, user: NodeId): Promise<void> {
  await tx.run(sql`UPDATE microblog_users SET user_id = NULL WHERE user_id = ${user}`);
}
