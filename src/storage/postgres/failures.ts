/** What PostgreSQL's and the system's errors mean to a caller. */
import { databaseUnreachable } from "#kernel/errors";

/** Of the system: nobody listens, the connection broke, the name is unknown. */
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

/** Of the driver, which gives these no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|Socket is closed|This socket)/;

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * The connection is gone or of no use: class 08; 57P01 shutdown by the administrator, 57P02 crash, 57P03 starting up,
 * 57P05 idle too long; 53300 too many connections.
 */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (SYSTEM_CODES.has(code) || /^(08...|57P0[1235]|53300)$/.test(code)) return true;
  return error instanceof Error && DRIVER_MESSAGES.test(error.message);
}

/** The database gave no response in time; another connection would not do better. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

/** 40001 serialization failure, 40P01 deadlock: the transaction was undone and may run again. */
export const isRetryable = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error));

/** 0A000: the plan that this connection keeps was made before a newer program changed the table. A new connection has none. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && error instanceof Error && error.message.includes("cached plan must not change result type");

/** D-21: the database's own troubles, also a lack of resources (53) and I/O errors (58), become one error; others are handed on. */
export function translated(error: unknown): unknown {
  if (isConnectionFailure(error) || /^5[38]/.test(codeOf(error))) return Object.assign(databaseUnreachable(), { cause: error });
  return error;
}
