/** The contract of the control API: a route is data, from which the OpenAPI document is made. */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ControlKeyRow } from "#auth/control-keys.store";
import type { Registry } from "#graph/contract/registry";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { NodeId } from "#kernel/ids";
import type { DatabaseProblem } from "#storage/database-health";

/** The addresses of the graph, by surface. */
export interface ServerDescription {
  readonly sandbox: boolean;
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  /** Undefined if encoders cannot connect. */
  readonly rtmp_url?: string;
}

/** The parts of the server that the control API uses. */
export interface ControlDeps {
  readonly registry: Registry;
  readonly worlds: Omit<Worlds, "start" | "closeUnused" | "hasMore" | "enter" | "close">;
  /** False if other processes serve the graph (`--workers`) and do not see this one's memory. */
  readonly servesGraph: boolean;
  /** For a caller who reaches this server by `hostname`. */
  describeServer(hostname: string): ServerDescription;
  /** The value of a new token, for its world's seed and the token's id. */
  mintTokenValue(seed: number | undefined, id: NodeId): string;
  /** Called in this order after a world's time was moved, before the response is sent. */
  readonly onTimeMoved: readonly ((world: OpenWorld) => Promise<unknown>)[];
  /** Real time, for requests that wait and for keys: a world's clock may be stopped. */
  readonly realTime: { nowMs(): number; monotonicMs(): number; sleepMs(ms: number): Promise<void> };
  /** The audit list of keys (D-331): how long entries are kept, and whether requests that only read have any. */
  readonly audit: { readonly days: number; readonly reads: boolean };
  /** Random text in hex. */
  newRandom(byteCount: number): string;
  /** Called when a caller created a short-lived copy of a token. */
  onTokenCopied?(token: NodeId, copy: NodeId): void;
  /** Called with the hash of a replaced key and the value of the new one, because a file may hold the old one. */
  onKeyReplaced?(oldHash: string, key: string): void;
  /** The server that serves this API. */
  readonly server: ServedBy;
  /** Of all processes of the server, the newest state. */
  databaseProblems(): Promise<readonly DatabaseProblem[]>;
  /** Aborted when the server begins to end: streams end with it. */
  readonly ending: AbortSignal;
}

/** The process that serves the API, as its clients see it. */
export interface ServedBy {
  readonly version: string;
  readonly pid: number;
  /** Unix ms, real time. */
  readonly startedMs: number;
  readonly base_url: string;
  readonly data: "sqlite" | "memory" | "postgres";
  readonly sandbox: boolean;
  /** Processes that serve the graph. */
  readonly processes: number;
  /** Before a stop, requests are still served for this time. */
  readonly drain_delay_ms: number;
  /** Ends the server as a signal does. */
  stop(): void;
}

/** The key of the request. */
export interface CallerKey {
  readonly hash: string;
  /** `read`: only GET and HEAD, and no secrets (D-170). */
  readonly access: "full" | "read";
  /** The only world that it sees and changes; undefined: all worlds, and the server. */
  readonly world: string | undefined;
  /** Undefined for the configured key. */
  readonly stored: ControlKeyRow | undefined;
}

export interface ControlRequest<Q = unknown, B = unknown> {
  readonly deps: ControlDeps;
  readonly key: CallerKey;
  /** The path names a world that does not exist, and `world` is the first one: the secret in the request must count as wrong (`needsNoKey`). */
  readonly isNoWorld: boolean;
  /** The world of the path; the first world if the path has none or if the route is about the world as a whole. */
  readonly world: OpenWorld;
  /** Segments of the path by name, e.g. `{id}`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The address of the request without its query, for links. */
  readonly url: string;
  /** Lower-case name; undefined when it was not sent. */
  header(name: string): string | undefined;
  /** A route that `reportsProgress` calls it now and then. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `{w}` is the name of a world. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly query?: TObject;
  /**
   * The schema of a JSON body. `text`: the body is text (a world file); `entry`: a node's entry, which its section checks; `file`: the handler gets
   * the request and reads its body as a stream; `form`: the text of a small form, or of JSON with other keys.
   */
  readonly body?: TSchema | "text" | "entry" | "file" | "form";
  /** The schema of a `file` or a `form`, by media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
  readonly status?: 200 | 201;
  /** When the response has the status 202, with the same content. The handler then returns a `Response`. */
  readonly unfinished?: string;
  /**
   * The request contains a secret of its own, so it needs no control key, and its handler gets none. If its world does not exist, it is handled in the first
   * world with `isNoWorld`, so that strangers do not learn which worlds there are.
   */
  readonly needsNoKey?: true;
  /** Whether the response has secrets for a key with full access, so that the audit list has the request. */
  readsSecrets?(path: Readonly<Record<string, string>>, query: Readonly<Record<string, string>>): boolean;
  /** A key that is bound to a world may send the request, though its path names no world. */
  readonly servesBoundKeys?: true;
  /** `entry` and `entries`: nodes of `{key}`, whose schema is in their section; `file`: a world file. */
  readonly response: TSchema | "entry" | "entries" | "file";
  /** Media types of responses that are streams. The handler then returns a `Response`. */
  readonly streams?: readonly string[];
  /**
   * The request may take long. With `Accept: text/event-stream` the response is a stream of events: `progress` (`{done, total}`; it may begin
   * again), and at the end `result` or `error` with the content of the ordinary response.
   */
  readonly reportsProgress?: true;
  /** It returns only streams, and `response` is the schema of one event or line. */
  readonly isStreamAlone?: true;
  /** Further statuses. These follow from the route: 400 and 413 of a query or a body, 401, 403, and 404 of an address with names. */
  readonly errors?: readonly (400 | 409 | 422)[];
  /** Keys of a 422 response beside `error`. */
  readonly unmet?: TSchema;
  /** The route is about the world as a whole, which need not be open. `path.w` is its name. */
  readonly isAboutWorld?: boolean;
  /** Its stream goes on when the world is reset or restored, because it shows state of the process, not of the world. */
  readonly outlivesReset?: boolean;
  handle(request: ControlRequest): Promise<unknown>;
}

// This layer imports no features, and their type is in a lower one, so this declaration adds routes to the type.
declare module "#graph/contract/feature" {
  interface Feature {
    /** The feature's routes of the control API. */
    readonly controlRoutes?: readonly ControlRoute[];
  }
}

/** A body without a schema of its own is a word. */
type BodyWord = Extract<ControlRoute["body"], string>;
type WithTypes = "method" | "path" | "operation" | "query" | "body" | "response" | "handle";

interface RouteInput<Q extends TObject, B extends TSchema | BodyWord> extends Omit<ControlRoute, WithTypes> {
  readonly query?: Q;
  readonly body?: B;
  /** Without it the handler returns nothing, and the response only reports success. */
  readonly response?: ControlRoute["response"];
  handle(request: ControlRequest<Static<Q>, B extends TSchema ? Static<B> : unknown>): Promise<unknown>;
}

const succeeded = Type.Object({ success: Type.Boolean() });

/** `address`: method and path, e.g. `GET /v1/worlds/{w}/clock`. The types of query and body are checked inside the route. */
export function route<Q extends TObject = TObject, B extends TSchema | BodyWord = TSchema>(
  address: `${ControlRoute["method"]} /${string}`,
  operation: string,
  contract: RouteInput<Q, B>,
): ControlRoute {
  const [method, path] = address.split(" ");
  const { response = succeeded, handle } = contract as unknown as ControlRoute;
  const handled: ControlRoute["handle"] = response === succeeded ? (request) => handle(request).then(() => ({ success: true })) : handle;
  return { ...contract, method, path, operation, response, handle: handled } as unknown as ControlRoute;
}
