/** Requests on their way to another process (D-358). A row stays for some seconds. */
import type { Transaction } from "#storage/database";
import { sql } from "#storage/sql";

/** Two processes may know the same request, because the first process of a server also has those of its workers. */
export async function passRequest(tx: Transaction, traceId: string, entry: string): Promise<void> {
  await tx.run(sql`INSERT INTO passed_requests (trace_id, entry) VALUES (${traceId}, ${entry}) ON CONFLICT (trace_id) DO NOTHING`);
}

/** Reads the request and deletes it. */
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
