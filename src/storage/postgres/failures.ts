/** Translates the errors of PostgreSQL and of the operating system into errors for callers. */
import { databaseUnreachable } from "#kernel/errors";
import { NotOneRow } from "../database.ts";
import type { ProblemKind } from "../database-health.ts";

/** Codes of the operating system for a lost server: nothing listens, the connection broke, the host name is unknown. */
const SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** All connections of the pool were in use during the whole waiting time of a request. */
export class NoConnection extends Error {
  constructor(connections: number, ms: number) {
    super(`none of the ${connections} connections of this process became free within ${ms / 1_000} s`);
    this.name = "NoConnection";
  }
}

/** The table is locked, and many statements wait for it already. */
export class TableLocked extends Error {
  constructor(table: string) {
    super(`another session locks the table ${table}, and many statements wait for it`);
    this.name = "TableLocked";
  }
}

/** The server takes no writes: it is a standby, or a primary that was demoted. The address leads to another server, now or in a moment. */
export class NotPrimary extends Error {
  constructor(cause?: unknown) {
    super("the PostgreSQL server is a standby and takes no writes", { cause });
    this.name = "NotPrimary";
  }
}

/** 25006 is a write on a read-only server; 0A000 is a transaction for writing that could not even begin there. */
export const isReadOnlyServer = (error: unknown): boolean =>
  codeOf(error) === "25006" || (codeOf(error) === "0A000" && error instanceof Error && error.message.includes("during recovery"));

/** The server accepts writes, but is not the current primary of the cluster that this process uses. */
export class StalePrimary extends Error {
  constructor(reason: string) {
    super(`a server of PostgreSQL that accepts writes is not used: ${reason}`);
    this.name = "StalePrimary";
  }
}

/** The world has left this database for another one, or is leaving it (D-421). The new place of the world is in the list of worlds. */
export class WorldMoved extends Error {
  constructor(schema: string) {
    super(`the schema ${schema} was moved to another database`);
    this.name = "WorldMoved";
  }
}

/** Messages of the driver's own errors, which have no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|Socket is closed|This socket)/;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Whether the connection is lost or unusable. Codes: class 08 a broken connection; 57P01 shutdown by the administrator, 57P02 crash, 57P03 starting
 * up, 57P05 idle too long; 53300 too many connections.
 */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof NotPrimary || error instanceof StalePrimary) return true;
  if (SYSTEM_CODES.has(code) || /^(08...|57P0[1235]|53300)$/.test(code)) return true;
  return error instanceof Error && DRIVER_MESSAGES.test(error.message);
}

/** Whether the database did not respond in time; another connection would not help. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

/** Whether the transaction was rolled back and can run again: 40001 serialization failure, 40P01 deadlock, or a row that does not exist any more. */
export const isRetryable = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error)) || error instanceof NotOneRow;

/** Whether the table (42P01) or its schema does not exist. */
export const isUndefinedTable = (error: unknown): boolean => codeOf(error) === "42P01" || codeOf(error) === "3F000";

/** 0A000: a newer program changed the table after this connection had planned the statement. A new connection has no old plans. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && error instanceof Error && error.message.includes("cached plan must not change result type");

/** Whether the body may run again, on another connection. */
export const isTransient = (error: unknown): boolean => isRetryable(error) || isConnectionFailure(error) || isStalePlan(error);

/** D-21: failures of the database, including lack of resources (53) and I/O errors (58), become one error; others are unchanged. */
export function translated(error: unknown): unknown {
  if (isConnectionFailure(error) || error instanceof NoConnection || error instanceof WorldMoved || isTooSlow(error) || /^5[38]/.test(codeOf(error)))
    return Object.assign(databaseUnreachable(), { cause: error });
  return error;
}

/** Awaits `work`, and translates its error. */
export const translating = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw translated(error);
  });

/** 55P03 is the time limit for a lock; 57014 is the time limit for a statement, or a cancelled statement. */
const isTooSlow = (error: unknown): boolean => error instanceof TableLocked || /^(55P03|57014)$/.test(codeOf(error));

/**
 * The problem for each code: 53100 disk full; 53200 out of memory; 53300 too many connections; class 58 errors of the system; XX001 and XX002 damaged
 * data.
 */
const KINDS: readonly (readonly [RegExp, ProblemKind])[] = [
  [/^53100$/, "disk_full"],
  [/^53200$/, "no_memory"],
  [/^53/, "no_connection"],
  [/^58/, "disk_error"],
  [/^XX00[12]$/, "file_damaged"],
];

/** The kind of problem that an error shows; undefined if the error is not a problem of the database. */
export function problemKindOf(error: unknown): ProblemKind | undefined {
  if (error instanceof NoConnection) return "no_connection";
  if (error instanceof StalePrimary) return "stale_primary";
  if (isTimeout(error) || isTooSlow(error)) return "too_slow";
  const code = codeOf(error);
  return KINDS.find(([codes]) => codes.test(code))?.[1] ?? (isConnectionFailure(error) ? "unreachable" : undefined);
}
