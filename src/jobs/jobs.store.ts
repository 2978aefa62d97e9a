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

/** Jobs that may not begin now: all jobs of `kinds`, and the jobs of `shares`. */
export interface FullKinds {
  readonly kinds: readonly string[];
  readonly shares: readonly { readonly kind: string; readonly share: string }[];
}

/** Stores a job. The new job replaces a job of the same kind and key, even a running one, whose run can then no longer settle it. */
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

/** The waiting jobs that are due, earliest first, without the jobs of `full`. On PostgreSQL the rows stay locked until the transaction ends. */
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

/** The number of jobs that are searched for failures. The page of alerts does this every two seconds, and a job that failed is due within an hour. */
const NEXT_MAX = 1_000;

export interface FailingJob extends Row {
  kind: string;
  key: string;
  attempts: number;
  due_ms: number;
  last_error: string;
}

/** Jobs that failed at least twice, the most failures first, among the jobs that run next. A single failure is often over a second later. */
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

/** Deletes a job that has run. Returns false if the run under `fence` no longer owned the job. */
export async function settleJob(tx: Transaction, kind: string, key: string, fence: number): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM jobs WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`)) > 0;
}

/** Replaces the payload of a running job. Returns false if the run under `fence` no longer owns the job. */
export async function savePayload(tx: Transaction, { kind, key }: Pick<JobRow, "kind" | "key">, fence: number, payload: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE jobs SET payload = ${payload} WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`)) > 0;
}

export async function postponeJob(tx: Transaction, { kind, key }: JobRow, fence: number, dueMs: number, error: string): Promise<void> {
  await tx.run(sql`
    UPDATE jobs SET fence = 0, attempts = attempts + 1, due_ms = ${dueMs}, last_error = ${error}
    WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`);
}

/**
 * Whether a job is due, claimed or not. The check is one statement, because between two statements a claimed job could end and leave another job that
 * is due.
 */
export async function hasDueJob(reader: Reader, nowMs: number): Promise<boolean> {
  const found = await reader.get(sql`
    SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM jobs j WHERE j.fence > 0 AND j.due_ms <= ${nowMs})
    OR EXISTS (SELECT 1 FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs})`);
  return found !== undefined;
}

/** The kinds and keys of the jobs that run under `fence`. */
export function findRunningJobs(tx: Transaction, fence: number): Promise<Pick<JobRow, "kind" | "key">[]> {
  return tx.all(sql`SELECT j.kind, j.key FROM jobs j WHERE j.fence = ${fence} AND j.fence > 0 ORDER BY j.kind, j.key`);
}

/** Makes a job wait again, as before it was claimed. */
export async function giveBackJob(tx: Transaction, { kind, key }: Pick<JobRow, "kind" | "key">, fence: number): Promise<void> {
  await tx.run(sql`UPDATE jobs SET fence = 0 WHERE kind = ${kind} AND key = ${key} AND fence = ${fence}`);
}

/** Makes the jobs of an ended session wait again; their due time has passed. */
export async function releaseJobs(tx: Transaction, fence: number): Promise<void> {
  await tx.run(sql`UPDATE jobs SET fence = 0 WHERE fence = ${fence} AND fence > 0`);
}

export interface JobCounts extends Row {
  /** The number of jobs that are due and have not begun. */
  due: number;
  running: number;
  /** The due time of the job that has been due the longest. */
  oldest_due_ms: number | null;
}

/** The number at which counting stops, so that a queue of any length costs a few ms. */
const JOBS_COUNTED_MAX = 10_000;

export async function countJobs(reader: Reader, nowMs: number): Promise<JobCounts> {
  const counts = await reader.get<JobCounts>(sql`
    SELECT (SELECT COUNT(*) FROM (SELECT 1 AS one FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs} LIMIT ${JOBS_COUNTED_MAX}) AS waiting) AS due,
      (SELECT COUNT(*) FROM (SELECT 1 AS one FROM jobs j WHERE j.fence > 0 LIMIT ${JOBS_COUNTED_MAX}) AS begun) AS running,
      (SELECT MIN(j.due_ms) FROM jobs j WHERE j.fence = 0 AND j.due_ms <= ${nowMs}) AS oldest_due_ms`);
  return counts as JobCounts;
}
