/** The plain data that the pipeline works on. `http/` turns an HTTP request into a `GraphRequest`, and a `GraphResponse` into an HTTP response. */
import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";

/** The surfaces of the interface. Each surface has a host name, or a path that replaces the host name (D-01, `surfaces/surfaces.ts`). */
export type SurfaceName = "base" | "app" | "microblog" | "ads" | "social_login";

/**
 * Decoded parameters by name. A parameter's value is a text, a JSON value, or the list or object that repeated names or names such as `a[b]` make.
 * The object of parameters has no prototype.
 */
export type Parameters = Readonly<Record<string, unknown>>;

export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The quota of the server's capacity that a running request uses (D-97). */
export interface Admission {
  /**
   * From this call on, the request counts against `app`, to which its valid token belongs, and no longer against the address of its client alone.
   * Throws `overloaded` if the server is full and the app has used up its quota.
   */
  countAgainst(app: string): void;
  /**
   * Runs `wait`, a function that waits for another server. While it waits for another server, the request does not count as running. Throws
   * `tooManyWaiting` if too many requests of the app are already waiting. Rejects with the error of the function `wait`.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

/**
 * The door decides whether a request reaches a closed world (D-333). An empty world answers the request, until the request presents a token or a node
 * id that the closed world has stored. If the token or id opens the door, the empty world's response is dropped and the world itself answers.
 */
export interface Door {
  readonly isOpened: boolean;
  showToken(value: string): Promise<void>;
  /** Tells the door of a closed world the id of a node that can be used without a token. */
  showNode(id: NodeId): Promise<void>;
}

export interface GraphRequest {
  readonly surface: SurfaceName;
  /** The HTTP method in upper case, as the client sent it. Another step of the pipeline applies the parameter `method`. */
  readonly method: string;
  /** The path below the address of the surface, still percent-encoded, e.g. `/v26.0/2001/personas`. */
  readonly path: string;
  /** The query string as the client sent it, without `?`. Links in the response repeat the text of the query string. */
  readonly queryText: string;
  readonly query: Parameters;
  readonly body: Parameters;
  readonly files: ReadonlyMap<string, UploadedFile>;
  /** The value of a header, whose name is given in lower case. Undefined if the client did not send the header. */
  header(name: string): string | undefined;
  /** The scheme, host and path prefix of the surface as the client used them, without a trailing slash (D-01). */
  readonly baseUrl: string;
  /**
   * The error that was found while the request's text was decoded. The step `parse` throws the decoding error, so that only callers with a right to
   * the operation learn of the error.
   */
  readonly defect?: GraphError | undefined;
  /** The machine's time in ms when the request arrived. Undefined if no code has asked for the time of arrival yet. */
  readonly receivedMs?: number | undefined;
  /** How deep this request is nested in batches: 0 for a request that came over HTTP. */
  readonly batchDepth: number;
  /** The trace id of the batch to which this request belongs. The request log has one entry for the whole batch and no entries for its requests. */
  readonly batchTraceId?: string;
  /**
   * The quota of the server's capacity that the request uses. Requests in a batch use the server's capacity through the batch. The capacity is
   * undefined if the server does not limit it, as in tests.
   */
  readonly admission?: Admission | undefined;
  /** Set if the request is for a closed world, or for a world that does not exist. Requests in a batch use the door that the batch has. */
  readonly door?: Door | undefined;
}

export interface GraphResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The response's body as JSON text. The response's body is empty for HEAD and 304. */
  readonly body: string;
  /** The operation's name, for the request log and the metrics. */
  readonly operation: string;
  /** The requests of a batch or of `ids=`, in the order in which they ran. */
  parts?: readonly ServedPart[];
  readonly traceId: string;
  readonly app: string | undefined;
  readonly damage?: Damage | undefined;
  /** The explanation of the response, as `story/story-text.ts` writes it. */
  story?: string | undefined;
}

/** A request of a batch or of `ids=`, with its path as it was sent. */
export interface ServedPart extends Pick<GraphResponse, "operation" | "status" | "story"> {
  readonly method: string;
  readonly path: string;
}

/** The way in which an injected fault damages a response (D-150). */
export interface Damage {
  /** Whether the server resets the connection and sends no response. */
  readonly reset: boolean | undefined;
  /** The number of bytes of the body after which the server closes the connection. */
  readonly cut_body_at: number | undefined;
  readonly body_bytes_per_second: number | undefined;
}

/** Runs the pipeline for one of the requests of a batch or of `ids=`. */
export type HandleRequest = (request: GraphRequest) => Promise<GraphResponse>;

declare global {
  interface JSON {
    /**
     * Makes a value that `stringify` writes as the given text. TypeScript's own types do not have `JSON.rawJSON`. Throws `SyntaxError` if the given
     * text is not JSON.
     */
    rawJSON(text: string): unknown;
  }
}

/** A JSON number with its text, because the text may have more digits than a float can store (`_valueToSum`, 63-bit ids). */
export class JsonNumber {
  constructor(readonly text: string) {}
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

/** The sender of a request: the token that was checked, and the app of that token. */
export interface Caller {
  readonly token: Token;
  readonly app: AppFacts;
}
