import type { ErrorCode } from "./generated/operations.ts";

/**
 * The reaction that a program needs: get another token (`token`) or a permission (`permission`), wait (`rate_limit`, `temporary`), correct the
 * request (`parameter`, `version`), give up on the object (`not_found`), or report the error (`server`).
 */
export type ErrorKind = "token" | "permission" | "rate_limit" | "temporary" | "parameter" | "version" | "not_found" | "server";

const kinds: Readonly<Partial<Record<ErrorCode, ErrorKind>>> = {
  4: "rate_limit",
  613: "rate_limit",
  10: "permission",
  200: "permission",
  104: "token",
  190: "token",
  803: "not_found",
  2500: "parameter",
  2635: "version",
  2200: "parameter",
  2201: "parameter",
};

/** The subcode of three errors: the object does not exist, the caller may not see the object, or the object does not support the method. */
const UNAVAILABLE_SUBCODE = 33;

/** Matches the message of the error about an unknown version in the path, and no other message. */
const UNKNOWN_VERSION = /: \/v\d+\.\d+(?:;|$)/;

interface ErrorBody {
  readonly message?: string;
  readonly type?: string;
  readonly code?: number;
  readonly error_subcode?: number;
  readonly is_transient?: boolean;
  readonly error_data?: Readonly<Record<string, unknown>>;
  readonly error_user_title?: string;
  readonly error_user_msg?: string;
  readonly pftrace_id?: string;
}

/** An error of the server. The interface has two forms of errors; the client reads both. */
export class GraphError extends Error {
  override readonly name = "GraphError";
  /** The HTTP status of the response. */
  readonly status: number;
  /** The error code; 0 if the response is not an error of the graph interface, for example if it comes from a proxy. */
  readonly code: ErrorCode | 0;
  readonly subcode: number | undefined;
  readonly type: string | undefined;
  /**
   * True if the server says that a repetition of the failed request may succeed later. If the value is true, the client has already retried the
   * request.
   */
  readonly isTransient: boolean;
  /** Facts about the error, e.g. the name of the wrong parameter in `parameter`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** A title to show to the person who uses the app. */
  readonly userTitle: string | undefined;
  readonly userMessage: string | undefined;
  /** An id with which the operator finds the request in the server's log. */
  readonly traceId: string | undefined;
  /** The wait in milliseconds that the header `Retry-After` asks for. */
  readonly retryAfterMs: number | undefined;
  /** The name of the operation that failed, e.g. `createLabel`. */
  readonly operation: string;

  constructor(operation: string, status: number, body: unknown, retryAfterMs?: number) {
    const { message, type, code, error_subcode, is_transient, error_data, ...rest } = errorOf(body);
    super(message ?? `${operation}: status ${status} without an error of the interface`);
    this.operation = operation;
    this.status = status;
    this.code = (code ?? 0) as ErrorCode | 0;
    this.subcode = error_subcode;
    this.type = type;
    this.isTransient = is_transient ?? (status === 429 || status === 503);
    this.data = error_data ?? {};
    this.userTitle = rest.error_user_title;
    this.userMessage = rest.error_user_msg;
    this.traceId = rest.pftrace_id;
    this.retryAfterMs = retryAfterMs;
  }

  get kind(): ErrorKind {
    if (this.subcode === UNAVAILABLE_SUBCODE) return "not_found";
    if (this.code === 2500 && UNKNOWN_VERSION.test(this.message)) return "version";
    const kind = this.code === 0 ? undefined : kinds[this.code];
    if (kind !== undefined) return kind;
    if (this.isTransient) return this.status === 429 ? "rate_limit" : "temporary";
    return this.status >= 500 ? "server" : "parameter";
  }
}

function errorOf(body: unknown): ErrorBody {
  if (typeof body !== "object" || body === null) return {};
  return "error" in body && typeof body.error === "object" && body.error !== null ? body.error : body;
}

/**
 * The error for a request without a response: the connection failed, or the time limit passed. `cause` is the reason for the failure. If the request
 * was a write, the server may or may not have made the change.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly operation: string;
  constructor(operation: string, cause: unknown) {
    super(`${operation}: no response: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.operation = operation;
  }
}
