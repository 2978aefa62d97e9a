import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";

/**
 * Stores a session. If the session is stored already, only its lease changes, because two transactions of one process may both store the session when
 * they claim the first work.
 */
export async function saveSession(tx: Transaction, fence: number, leaseUntilMs: number): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO work_sessions (fence, lease_until_ms) VALUES (${fence}, ${leaseUntilMs})
    ON CONFLICT (fence) DO UPDATE SET lease_until_ms = excluded.lease_until_ms`);
}

/**
 * Renews the lease of a session. Returns false if the session no longer exists, because another process ended it or the world's data was replaced.
 */
export async function renewSession(tx: Transaction, fence: number, leaseUntilMs: number): Promise<boolean> {
  return (await tx.run(sql`UPDATE work_sessions SET lease_until_ms = ${leaseUntilMs} WHERE fence = ${fence}`)) === 1;
}

/**
 * Deletes a session. Returns false if the session to be deleted did not exist. If several processes find an ended session, only one of them gets true
 * and takes over its work.
 */
export async function deleteSession(tx: Transaction, fence: number): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM work_sessions WHERE fence = ${fence}`)) > 0;
}

/** Returns the sessions other than `own` whose leases ended before `beforeMs`. */
export async function findEndedSessions(reader: Reader, own: number, beforeMs: number): Promise<number[]> {
  const rows = await reader.all<{ fence: number }>(
    sql`SELECT s.fence FROM work_sessions s WHERE s.lease_until_ms < ${beforeMs} AND s.fence <> ${own} ORDER BY s.fence`,
  );
  return rows.map(({ fence }) => fence);
}
