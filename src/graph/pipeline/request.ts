/** The plain data on which the pipeline works: `http/` makes it of HTTP, and HTTP of it. */
import type { AppFacts } from "#auth/app-facts";
import type { Token } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import type { RequestStory } from "../worlds/request-log.ts";

export type SurfaceName = "base" | "app" | "microblog" | "ads" | "social_login";

/** Decoded parameters: strings, or what JSON, repetition or `a[b]=c` nesting made of them. No prototype. */
export type Parameters = Readonly<Record<string, unknown>>;

export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The capacity that a running request takes from others (D-97). */
export interface Admission {
  /**
   * The request, or the first one of several in one, has a live token of `app`: from here on it counts against the app and no longer
   * against its address alone. Throws `overloaded` where the server is full and the app has its share.
   */
  countAgainst(app: string): void;
  /**
   * Waiting for another server is no work: meanwhile the request makes way for others. Throws `tooManyWaiting` where too many
   * requests of the app wait already. Rejects with what `wait` rejects with.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface GraphRequest {
  readonly surface: SurfaceName;
  /** Upper case, as sent; `method=` overriding is the pipeline's business. */
  readonly method: string;
  /** Below the surface's mount, still percent-encoded, e.g. `/v26.0/2001/personas`. */
  readonly path: string;
  /** The query string as sent, without `?`: links repeat it. */
  readonly queryText: string;
  readonly query: Parameters;
  readonly body: Parameters;
  readonly files: ReadonlyMap<string, UploadedFile>;
  /** Lower-case name; undefined when the header was not sent. */
  header(name: string): string | undefined;
  /** Scheme, host and mount as the caller used them, without a trailing slash (D-01). */
  readonly baseUrl: string;
  /** What is wrong with the request's text; raised where parameters are parsed, so a stranger learns nothing from it. */
  readonly defect?: GraphError | undefined;
  /** How deep this request is nested in batches: 0 for one that came by HTTP. */
  readonly batchDepth: number;
  /** Requests in a batch have that of the batch. Undefined where nothing is shared with others, as in tests. */
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
  /** Of a request that somebody looks at. */
  readonly story?: RequestStory | undefined;
}

/** What a fault does to a response on its way (D-150). */
export interface Damage {
  /** The connection is reset in its place. */
  readonly reset: boolean | undefined;
  /** The connection ends after so many bytes of the body. */
  readonly cut_body_at: number | undefined;
  readonly body_bytes_per_second: number | undefined;
}

/** The pipeline, for a request that is part of another. */
export type HandleRequest = (request: GraphRequest) => Promise<GraphResponse>;

declare global {
  interface JSON {
    /** What `stringify` writes as it stands; TypeScript does not know it yet. Throws `SyntaxError` for what is no JSON. */
    rawJSON(text: string): unknown;
  }
}

/** A JSON number whose text says more than a binary float holds (`_valueToSum`, 63-bit ids). */
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
