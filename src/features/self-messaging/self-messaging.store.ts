import type { NodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";

export const selfMessagingMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      // D-406: a full thread does not grow, because a new message overwrites the row of the oldest message. The column `place` has the number of the
      // row in its thread.
      `CREATE TABLE self_messages (account BIGINT NOT NULL, place INTEGER NOT NULL, n BIGINT NOT NULL, mid TEXT NOT NULL, time_ms BIGINT NOT NULL,
        app BIGINT, text TEXT NOT NULL, payload TEXT, PRIMARY KEY (account, place)) WITHOUT ROWID`,
      "CREATE TABLE self_threads (account BIGINT PRIMARY KEY, messages BIGINT NOT NULL) WITHOUT ROWID",
    ],
  },
];

/** D-406: the greatest number of messages in a thread: more than a person usually scrolls through. */
export const THREAD_MESSAGES_MAX = 200;

export interface ThreadMessage extends Row {
  /** The id of the message; for a pressed button, the id of the message that has the button. */
  mid: string;
  /** The time of the message in Unix milliseconds of the world's clock. */
  time_ms: number;
  /** The app that sent the message; null if the person wrote it or pressed the button. */
  app: string | null;
  /** The text of the message or of the button. */
  text: string;
  /** The payload of the pressed button; null for a message. */
  payload: string | null;
}

/** Adds a message to the end of an account's thread. If the thread is full, the new message overwrites the oldest message. */
export async function addToThread(tx: Transaction, account: NodeId, { mid, time_ms, app, text, payload }: ThreadMessage): Promise<void> {
  const thread = await tx.get<{ messages: number }>(sql`
    INSERT INTO self_threads (account, messages) VALUES (${account}, 1)
    ON CONFLICT (account) DO UPDATE SET messages = self_threads.messages + 1 RETURNING messages`);
  const n = thread?.messages ?? 0;
  await tx.runOne(sql`
    INSERT INTO self_messages (account, place, n, mid, time_ms, app, text, payload)
    VALUES (${account}, ${n % THREAD_MESSAGES_MAX}, ${n}, ${mid}, ${time_ms}, ${app}, ${text}, ${payload})
    ON CONFLICT (account, place) DO UPDATE SET n = excluded.n, mid = excluded.mid, time_ms = excluded.time_ms, app = excluded.app,
      text = excluded.text, payload = excluded.payload`);
}

/** Lists the messages of an account's thread, in the order in which they were sent. */
export const readThread = (reader: Reader, account: NodeId): Promise<ThreadMessage[]> =>
  reader.all<ThreadMessage>(sql`
    SELECT m.mid, m.time_ms, CAST(m.app AS TEXT) AS app, m.text, m.payload FROM self_messages m WHERE m.account = ${account} ORDER BY m.n`);

export async function deleteThread(tx: Transaction, account: NodeId): Promise<void> {
  await tx.run(sql`DELETE FROM self_messages WHERE account = ${account}`);
  await tx.run(sql`DELETE FROM self_threads WHERE account = ${account}`);
}
