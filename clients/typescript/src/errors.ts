import type { ErrorCode } from "./generated/operations.ts";

/**
 * The reaction of a program to an error: ask for another token (`token`), for a permission (`permission`), wait (`rate_limit`, `temporary`), correct the
 * request (`parameter`, `version`), give up on the object (`not_found`), or report it (`server`).
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

/** "No such object, or none that the caller may see", or a method that it does not have. */
const UNAVAILABLE_SUBCODE = 33;

/** Only the version of the path is unknown. */
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

/** An error of the server, read from either of the interface's two forms. */
export class GraphError extends Error {
  override readonly name = "GraphError";
  /** The HTTP status. */
  readonly status: number;
  /** 0 if the response was not an error of the interface, e.g. a proxy's. */
  readonly code: ErrorCode | 0;
  readonly subcode: number | undefined;
  readonly type: string | undefined;
  /** The server says that the same request may succeed later. The client has then tried again already. */
  readonly isTransient: boolean;
  /** Facts about the error; `parameter` is the one that is wrong. */
  readonly data: Readonly<Record<string, unknown>>;
  /** To show to the person who uses the app. */
  readonly userTitle: string | undefined;
  readonly userMessage: string | undefined;
  /** Names the request in the server's log. */
  readonly traceId: string | undefined;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** The operation that failed, e.g. `createLabel`. */
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

/** No response came: no connection, or none within the time. `cause` says more. Whether a write has happened is not known. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly operation: string;
  constructor(operation: string, cause: unknown) {
    super(`${operation}: no response: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.operation = operation;
  }
}
