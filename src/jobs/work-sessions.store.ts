import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";

/** Stores a session, unless it is stored already: two transactions of one process can both be the first to claim work. */
export async function saveSession(tx: Transaction, fence: number, leaseUntilMs: number): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO work_sessions (fence, lease_until_ms) VALUES (${fence}, ${leaseUntilMs})
    ON CONFLICT (fence) DO UPDATE SET lease_until_ms = excluded.lease_until_ms`);
}

/** Returns false if the session does not exist any more: another process has declared it dead, or the world's state was replaced. */
export async function renewSession(tx: Transaction, fence: number, leaseUntilMs: number): Promise<boolean> {
  return (await tx.run(sql`UPDATE work_sessions SET lease_until_ms = ${leaseUntilMs} WHERE fence = ${fence}`)) === 1;
}

/** Deletes a session. Returns false if the session did not exist: of several processes that find a dead session, only one takes it over. */
export async function deleteSession(tx: Transaction, fence: number): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM work_sessions WHERE fence = ${fence}`)) > 0;
}

/** Sessions other than `own` whose lease ended before `beforeMs`. */
export async function findEndedSessions(reader: Reader, own: number, beforeMs: number): Promise<number[]> {
  const rows = await reader.all<{ fence: number }>(
    sql`SELECT s.fence FROM work_sessions s WHERE s.lease_until_ms < ${beforeMs} AND s.fence <> ${own} ORDER BY s.fence`,
  );
  return rows.map(({ fence }) => fence);
}
