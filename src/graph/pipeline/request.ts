/** The plain data that the pipeline works on. `http/` makes it from HTTP, and HTTP from it. */
import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import type { RequestStory } from "../worlds/request-log.ts";

export type SurfaceName = "base" | "app" | "microblog" | "ads" | "social_login";

/** Decoded parameters: strings, or values from JSON, repetition or `a[b]=c`. The object has no prototype. */
export type Parameters = Readonly<Record<string, unknown>>;

export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The capacity that a running request takes from others (D-97). */
export interface Admission {
  /**
   * From now on the request counts against `app`, whose live token it has, and no longer against its address alone. Throws `overloaded` if the
   * server is full and the app has its share.
   */
  countAgainst(app: string): void;
  /**
   * While the request waits for another server, it does not count as running. Throws `tooManyWaiting` if too many requests of the app wait
   * already. Rejects with the error of `wait`.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface GraphRequest {
  readonly surface: SurfaceName;
  /** In upper case, as sent. The pipeline applies the parameter `method`. */
  readonly method: string;
  /** Below the surface's mount, still percent-encoded, e.g. `/v26.0/2001/personas`. */
  readonly path: string;
  /** The query string as sent, without `?`. Links repeat it. */
  readonly queryText: string;
  readonly query: Parameters;
  readonly body: Parameters;
  readonly files: ReadonlyMap<string, UploadedFile>;
  /** `name` is in lower case. Undefined if the header was not sent. */
  header(name: string): string | undefined;
  /** Scheme, host and mount as the caller used them, without a trailing slash (D-01). */
  readonly baseUrl: string;
  /** The error of the request's text. It is thrown when parameters are parsed, so that only callers with a right learn of it. */
  readonly defect?: GraphError | undefined;
  /** How deep this request is nested in batches: 0 for one that came over HTTP. */
  readonly batchDepth: number;
  /** Requests in a batch have that of the batch. Undefined if there are no limits, as in tests. */
  readonly admission?: Admission | undefined;
}

export interface GraphResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON text; empty for HEAD and 304. */
  readonly body: string;
  /** For the request log and the metrics. */
  readonly operation: string;
  readonly traceId: string;
  readonly app: string | undefined;
  readonly damage?: Damage | undefined;
  /** For requests that somebody watches. */
  readonly story?: RequestStory | undefined;
}

/** How a fault damages a response (D-150). */
export interface Damage {
  /** The connection is reset instead of a response. */
  readonly reset: boolean | undefined;
  /** After how many bytes of the body the connection ends. */
  readonly cut_body_at: number | undefined;
  readonly body_bytes_per_second: number | undefined;
}

/** The pipeline, for a request that is part of another. */
export type HandleRequest = (request: GraphRequest) => Promise<GraphResponse>;

declare global {
  interface JSON {
    /** A value that `stringify` writes as this text. TypeScript does not know it yet. Throws `SyntaxError` if the text is not JSON. */
    rawJSON(text: string): unknown;
  }
}

/** A JSON number with its text, which has more digits than a binary float keeps (`_valueToSum`, 63-bit ids). */
export class JsonNumber {
  constructor(readonly text: string) {}
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

/** The sender of a request: the token that was checked, and its app. */
export interface Caller {
  readonly token: Token;
  readonly app: AppFacts;
}
