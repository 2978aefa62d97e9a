import type { Reader, Transaction } from "#storage/database";
import { append, type Row, type Sql, sql } from "#storage/sql";

export interface JobRow extends Row {
  kind: string;
  key: string;
  share: string;
  due_ms: number;
  payload: string;
  attempts: number;
}

/** The jobs that may not begin now: all jobs of `kinds`, and the jobs of the owners in `shares`. */
export interface FullKinds {
  readonly kinds: readonly string[];
  readonly shares: readonly { readonly kind: string; readonly share: string }[];
}

/**
 * Stores a job. The new job replaces a job of the same kind and key, even if that job is running. After the replacement, a run of the replaced job
 * can no longer settle the job.
 */
export async function saveJob(tx: Transaction, job: Pick<JobRow, "kind" | "key" | "share" | "due_ms" | "payload">): Promise<void> {
  const { kind, key, share, due_ms, payload } = job;
  await tx.runOne(sql`
    INSERT INTO jobs (kind, key, share, due_ms, payload, attempts, fence) VALUES (${kind}, ${key}, ${share}, ${due_ms}, ${payload}, 0, 0)
    ON CONFLICT (kind, key) DO UPDATE
    SET share = excluded.share, due_ms = excluded.due_ms, payload = excluded.payload, attempts = 0, fence = 0, last_error = NULL`);
}

/** Deletes a job. Returns whether the job existed. */
export async function deleteJob(tx: Transaction, kind: string, key: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM jobs WHERE kind = ${kind} AND key = ${key}`)) > 0;
}

export async function findDueTime(reader: Reader, kind: string, key: string): Promise<number | undefined> {
  return (await reader.get<{ due_ms: number }>(sql`SELECT j.due_ms FROM jobs j WHERE j.kind = ${kind} AND j.key = ${key}`))?.due_ms;
}

/**
 * The waiting jobs that are due, earliest first. The result leaves out the jobs that may not begin because of `full`. On PostgreSQL the rows stay
 * locked until the transaction ends.
 */
export function findDueJobs(tx: Transaction, nowMs: number, limit: number, full: FullKinds): Promise<JobRow[]> {
  const due = sql`
    SELECT j.kind, j.key, j.share, j.due_ms, j.payload, j.attempts FROM jobs j
    WHERE j.fence = 0 AND j.due_ms <= ${nowMs}`;
  return tx.all<JobRow>(append(except(due, full), `ORDER BY j.due_ms, j.kind, j.key LIMIT ? ${tx.skipLocked("j")}`, [limit]));
}

function except(jobs: Sql, { kinds, shares }: FullKinds): Sql {
  const ofKinds = kinds.length === 0 ? jobs : append(jobs, `AND j.kind NOT IN (${kinds.map(() => "?").join(", ")})`, kinds);
  if (shares.length === 0) return ofKinds;
  const values = shares.flatMap(({ kind, share }) => [kind, share]);
  return append(ofKinds, `AND (j.kind, j.share) NOT IN (VALUES ${shares.map(() => "(?, ?)").join(", ")})`, values);
}

/** The waiting jobs, earliest first. */
export function listWaitingJobs(reader: Reader, limit: number): Promise<Pick<JobRow, "kind" | "key" | "due_ms">[]> {
  return reader.all(sql`SELECT j.kind, j.key, j.due_ms FROM jobs j WHERE j.fence = 0 ORDER BY j.due_ms, j.kind, j.key LIMIT ${limit}`);
}

/**
 * The greatest number of jobs that are searched for failures. The number is limited because the alerts page runs the query for failed jobs every two
 * seconds. A failed job is due again within an hour, so it is among the jobs that run next.
 */
const NEXT_MAX = 1_000;

export interface FailingJob extends Row {
  kind: string;
  key: string;
  attempts: number;
  due_ms: number;
  last_error: string;
}

/**
 * Returns the jobs that failed at least twice, among the jobs that run next. The jobs with the most failures are first in the result. The result
 * leaves out jobs that failed once, because such jobs often succeed a second later.
 */
export const listFailingJobs = (reader: Reader, limit: number): Promise<FailingJob[]> =>
  reader.all(sql`
    SELECT f.kind, f.key, f.attempts, f.due_ms, f.last_error
    FROM (
      SELECT j.kind, j.key, j.attempts, j.due_ms, COALESCE(j.last_error, '') AS last_error FROM jobs j
      WHERE j.fence = 0 ORDER BY j.due_ms, j.kind, j.key LIMIT ${NEXT_MAX}) f
    WHERE f.attempts > 1 ORDER BY f.attempts DESC, f.kind, f.key LIMIT ${limit}`);

export async function claimJob(tx: Transaction, { kind, key }: JobRow, fence: number): Promise<void> {
  await tx.runOne(sql`UPDATE jobs SET fence = ${fence} WHERE kind = ${kind} AND key = ${key}`);
}

export async function findNextDueTime(reader: Reader, full: FullKinds): Promise<number | undefined> {
  const next = except(sql`SELECT MIN(j.due_ms) AS due_ms FROM jobs j WHERE j.fence = 0`, full);
  const row = await reader.get<{ due_ms: number | null }>(next);
  return row?.due_ms ?? undefined;
}

/** Deletes a job that has run. Returns false if the session with `fence` no longer owned the job. */
export async function settleJob(tx: Transaction, kind: string, key: string, fence: number): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM jobs WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`)) > 0;
}

/** Replaces the payload of a running job. Returns false if the session with `fence` no longer owns the job. */
export async function savePayload(tx: Transaction, { kind, key }: Pick<JobRow, "kind" | "key">, fence: number, payload: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE jobs SET payload = ${payload} WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`)) > 0;
}

export async function postponeJob(tx: Transaction, { kind, key }: JobRow, fence: number, dueMs: number, error: string): Promise<void> {
  await tx.run(sql`
    UPDATE jobs SET fence = 0, attempts = attempts + 1, due_ms = ${dueMs}, last_error = ${error}
    WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`);
}

/**
 * Whether a job is due, no matter whether a process has claimed it. The check is one statement: between two statements a claimed job could end and
 * schedule another job, and neither statement would find that job.
 */
export async function hasDueJob(reader: Reader, nowMs: number): Promise<boolean> {
  const found = await reader.get(sql`
    SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM jobs j WHERE j.fence > 0 AND j.due_ms <= ${nowMs})
    OR EXISTS (SELECT 1 FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs})`);
  return found !== undefined;
}

/** The kinds and keys of the jobs that the session with `fence` runs. */
export function findRunningJobs(tx: Transaction, fence: number): Promise<Pick<JobRow, "kind" | "key">[]> {
  return tx.all(sql`SELECT j.kind, j.key FROM jobs j WHERE j.fence = ${fence} AND j.fence > 0 ORDER BY j.kind, j.key`);
}

/** Changes a claimed job back to a waiting job. */
export async function giveBackJob(tx: Transaction, { kind, key }: Pick<JobRow, "kind" | "key">, fence: number): Promise<void> {
  await tx.run(sql`UPDATE jobs SET fence = 0 WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`);
}

/** Changes all claimed jobs of an ended session back to waiting jobs. The due time of the returned jobs has passed, so the jobs run soon. */
export async function releaseJobs(tx: Transaction, fence: number): Promise<void> {
  await tx.run(sql`UPDATE jobs SET fence = 0 WHERE fence = ${fence} AND fence > 0`);
}

export interface JobCounts extends Row {
  /** The number of jobs that are due but have not begun. */
  due: number;
  running: number;
  /** The earliest due time among the jobs that are due. */
  oldest_due_ms: number | null;
}

/** The greatest number up to which jobs are counted, so that counting a queue of any length takes only a few ms. */
const JOBS_COUNTED_MAX = 10_000;

export async function countJobs(reader: Reader, nowMs: number): Promise<JobCounts> {
  const counts = await reader.get<JobCounts>(sql`
    SELECT (SELECT COUNT(*) FROM (SELECT 1 AS one FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs} LIMIT ${JOBS_COUNTED_MAX}) AS waiting) AS due,
      (SELECT COUNT(*) FROM (SELECT 1 AS one FROM jobs j WHERE j.fence > 0 LIMIT ${JOBS_COUNTED_MAX}) AS begun) AS running,
      (SELECT MIN(j.due_ms) FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs}) AS oldest_due_ms`);
  return counts as JobCounts;
}
