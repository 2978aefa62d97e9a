/** Translates the errors of PostgreSQL and of the operating system into errors for callers. */
import { databaseUnreachable } from "#kernel/errors";
import { NotOneRow } from "../database.ts";
import type { ProblemKind } from "../database-health.ts";

/**
 * Error codes of the operating system that mean that the server cannot be reached: nothing listens, the connection broke, the host name is unknown.
 */
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

/** The error for a call that found no free connection: all connections of the pool were in use during the call's whole waiting time. */
export class NoConnection extends Error {
  constructor(connections: number, ms: number) {
    super(`none of the ${connections} connections of this process became free within ${ms / 1_000} s`);
    this.name = "NoConnection";
  }
}

/** The error for a statement on a locked table for which many statements are already waiting. */
export class TableLocked extends Error {
  constructor(table: string) {
    super(`another session locks the table ${table}, and many statements wait for it`);
    this.name = "TableLocked";
  }
}

/**
 * The error for a PostgreSQL server that accepts no writes, because the server is a standby or a primary that was demoted. Another server of the
 * address is the primary, or will soon become the primary.
 */
export class NotPrimary extends Error {
  constructor(cause?: unknown) {
    super("the PostgreSQL server is a standby and accepts no writes", { cause });
    this.name = "NotPrimary";
  }
}

/**
 * Whether the error comes from a read-only server. The error code 25006 means a write on a read-only server. The error code 0A000 means a writing
 * transaction that could not even begin on a read-only server.
 */
export const isReadOnlyServer = (error: unknown): boolean =>
  codeOf(error) === "25006" || (codeOf(error) === "0A000" && error instanceof Error && error.message.includes("during recovery"));

/** The error for a server that accepts writes, but is not the current primary of the cluster that this process uses. */
export class StalePrimary extends Error {
  constructor(reason: string) {
    super(`Plaza does not use a PostgreSQL server that accepts writes: ${reason}`);
    this.name = "StalePrimary";
  }
}

/**
 * The error for a world that was moved from this database to another one, or is being moved (D-421). The list of worlds contains the world's new
 * database.
 */
export class WorldMoved extends Error {
  constructor(schema: string) {
    super(`the schema ${schema} was moved to another database`);
    this.name = "WorldMoved";
  }
}

/** The first words of the driver's own error messages. The driver's own errors have no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|Socket is closed|This socket)/;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Whether the connection is lost or unusable. The codes of such errors are: class 08, the connection broke; 57P01, the administrator shut the server
 * down; 57P02, the server crashed; 57P03, the server is starting; 57P05, the session was idle too long; 53300, too many connections.
 */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof NotPrimary || error instanceof StalePrimary) return true;
  if (SYSTEM_CODES.has(code) || /^(08...|57P0[1235]|53300)$/.test(code)) return true;
  return error instanceof Error && DRIVER_MESSAGES.test(error.message);
}

/** Whether the database did not respond in time. If the database is too slow to respond, it does not help to open another connection. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

/**
 * Whether the transaction was rolled back and can run again: 40001 is a serialization failure, 40P01 a deadlock, and `NotOneRow` a row that no longer
 * exists.
 */
export const isRetryable = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error)) || error instanceof NotOneRow;

/** Whether the error says that a table (42P01) or its schema (3F000) does not exist. */
export const isUndefinedTable = (error: unknown): boolean => codeOf(error) === "42P01" || codeOf(error) === "3F000";

/**
 * Whether a newer program changed the table after this connection had planned the statement (0A000). A new connection helps, because it has no old
 * plans.
 */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && error instanceof Error && error.message.includes("cached plan must not change result type");

/** Whether the body of the write may run again on another connection. */
export const isTransient = (error: unknown): boolean => isRetryable(error) || isConnectionFailure(error) || isStalePlan(error);

/**
 * D-21: every failure of the database becomes the one error `databaseUnreachable`, also a lack of resources (class 53) and an I/O error (class 58).
 * Errors with other causes than the database are unchanged.
 */
export function translated(error: unknown): unknown {
  if (isConnectionFailure(error) || error instanceof NoConnection || error instanceof WorldMoved || isTooSlow(error) || /^5[38]/.test(codeOf(error)))
    return Object.assign(databaseUnreachable(), { cause: error });
  return error;
}

/** Awaits `work`, and throws the translated error if `work` rejects. */
export const translating = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw translated(error);
  });

/** Whether a statement took too long: 55P03 is the time limit for a lock; 57014 is the time limit for a statement, or a cancelled statement. */
const isTooSlow = (error: unknown): boolean => error instanceof TableLocked || /^(55P03|57014)$/.test(codeOf(error));

/**
 * The kind of database problem for each error code: 53100 is a full disk, 53200 too little memory, 53300 too many connections, class 58 an error of
 * the system, XX001 and XX002 damaged data.
 */
const KINDS: readonly (readonly [RegExp, ProblemKind])[] = [
  [/^53100$/, "disk_full"],
  [/^53200$/, "no_memory"],
  [/^53/, "no_connection"],
  [/^58/, "disk_error"],
  [/^XX00[12]$/, "file_damaged"],
];

/** Returns the kind of problem that an error shows, or undefined if the database did not cause the error. */
export function problemKindOf(error: unknown): ProblemKind | undefined {
  if (error instanceof NoConnection) return "no_connection";
  if (error instanceof StalePrimary) return "stale_primary";
  if (isTimeout(error) || isTooSlow(error)) return "too_slow";
  const code = codeOf(error);
  return KINDS.find(([codes]) => codes.test(code))?.[1] ?? (isConnectionFailure(error) ? "unreachable" : undefined);
}
