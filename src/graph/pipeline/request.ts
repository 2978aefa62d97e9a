/** The plain data that the pipeline works on. `http/` makes a request from HTTP, and HTTP from the response. */
import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";

/** The surfaces: hosts of the interface, or paths instead of these hosts (D-01, `surfaces/surfaces.ts`). */
export type SurfaceName = "base" | "app" | "microblog" | "ads" | "social_login";

/**
 * Decoded parameters by name. A value is a text, a value of JSON, or the list or object that repeated names or names such as `a[b]` make. The object
 * has no prototype.
 */
export type Parameters = Readonly<Record<string, unknown>>;

export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The share of the server's capacity that a running request uses (D-97). */
export interface Admission {
  /**
   * From now on the request counts against `app`, whose live token it has, and no longer against the address of its client alone. Throws `overloaded`
   * if the server is full and the app has used up its share.
   */
  countAgainst(app: string): void;
  /**
   * While the request waits for another server, it does not count as running. Throws `tooManyWaiting` if too many requests of the app are already
   * waiting. Rejects with the error of `wait`.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

/**
 * The door of a closed world (D-333). Until the request has shown something that the world has stored, an empty world answers the request. If the
 * door is opened by then, that response is dropped, and the world itself answers.
 */
export interface Door {
  readonly isOpened: boolean;
  showToken(value: string): Promise<void>;
  /** Shows a node that can be used without a token. */
  showNode(id: NodeId): Promise<void>;
}

export interface GraphRequest {
  readonly surface: SurfaceName;
  /** The method of HTTP in upper case, as it was sent. The pipeline applies the parameter `method`. */
  readonly method: string;
  /** The path below the surface's mount, still percent-encoded, e.g. `/v26.0/2001/personas`. */
  readonly path: string;
  /** The query string as it was sent, without `?`. Links repeat this text. */
  readonly queryText: string;
  readonly query: Parameters;
  readonly body: Parameters;
  readonly files: ReadonlyMap<string, UploadedFile>;
  /** The value of a header, whose name is given in lower case. Undefined if the header was not sent. */
  header(name: string): string | undefined;
  /** The scheme, host and mount as the caller used them, without a trailing slash (D-01). */
  readonly baseUrl: string;
  /**
   * The error of the request's text. The error is thrown when parameters are parsed, so that only callers with a right to the operation learn of it.
   */
  readonly defect?: GraphError | undefined;
  /** The machine's time in ms when the request arrived. Undefined if no code has looked yet. */
  readonly receivedMs?: number | undefined;
  /** How deep this request is nested in batches: 0 for a request that came over HTTP. */
  readonly batchDepth: number;
  /** The trace id of the batch of which this request is a part. The request log has the batch, and not its parts. */
  readonly batchTraceId?: string;
  /**
   * The share of capacity that the request uses. Requests in a batch have the share of the batch. Undefined if the server has no such limits, as in
   * tests.
   */
  readonly admission?: Admission | undefined;
  /** Set if the request is for a closed world, or for a world that does not exist. Requests in a batch have the door of the batch. */
  readonly door?: Door | undefined;
}

export interface GraphResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The body as JSON text. The body is empty for HEAD and 304. */
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
  /** Whether the connection is reset instead of a response. */
  readonly reset: boolean | undefined;
  /** The number of bytes of the body after which the connection ends. */
  readonly cut_body_at: number | undefined;
  readonly body_bytes_per_second: number | undefined;
}

/** The pipeline, as it is called for a request that is part of another one. */
export type HandleRequest = (request: GraphRequest) => Promise<GraphResponse>;

declare global {
  interface JSON {
    /**
     * Makes a value that `stringify` writes as this text. The types of TypeScript lack this function. Throws `SyntaxError` if the text is not JSON.
     */
    rawJSON(text: string): unknown;
  }
}

/** A JSON number and its text, which has more digits than a binary float keeps (`_valueToSum`, 63-bit ids). */
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
