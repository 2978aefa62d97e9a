/** Log entries of requests that one process passes to another (D-358). A row with a passed log entry is deleted after some seconds. */
import type { Transaction } from "#storage/database";
import { sql } from "#storage/sql";

/** Stores an entry. Two processes may store the same entry, because the first process of a server also has the log entries of its workers. */
export async function passRequest(tx: Transaction, traceId: string, entry: string): Promise<void> {
  await tx.run(sql`INSERT INTO passed_requests (trace_id, entry) VALUES (${traceId}, ${entry}) ON CONFLICT (trace_id) DO NOTHING`);
}

/** Reads a passed log entry and deletes its row. */
export async function takeRequest(tx: Transaction, traceId: string): Promise<string | undefined> {
  const row = await tx.get<{ entry: string }>(sql`SELECT p.entry FROM passed_requests p WHERE p.trace_id = ${traceId}`);
  await removeRequest(tx, traceId);
  return row?.entry;
}

export async function removeRequest(tx: Transaction, traceId: string): Promise<void> {
  await tx.run(sql`DELETE FROM passed_requests WHERE trace_id = ${traceId}`);
}

export async function removeRequests(tx: Transaction): Promise<void> {
  await tx.run(sql`DELETE FROM passed_requests`);
}
