/** The contract of the control API: a route is data, and its OpenAPI document is made from it. */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ControlKeyRow } from "#auth/control-keys.store";
import type { Registry } from "#graph/contract/registry";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { NodeId } from "#kernel/ids";

/** Where the graph is, by surface. */
export interface ServerDescription {
  readonly sandbox: boolean;
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  /** Left out: encoders cannot connect. */
  readonly rtmp_url?: string;
}

/** What the control API steers. */
export interface ControlDeps {
  readonly registry: Registry;
  readonly worlds: Omit<Worlds, "start" | "closeUnused" | "hasMore" | "enter" | "close">;
  /** False: other processes serve the graph (`--workers`), and what this one has in memory does not reach them. */
  readonly servesGraph: boolean;
  /** For a caller who reaches this server by `hostname`. */
  describeServer(hostname: string): ServerDescription;
  /** The value of a new token, for its world's seed and the token's id. */
  mintTokenValue(seed: number | undefined, id: NodeId): string;
  /** Run after a world's time was moved, in this order, before the response is sent. */
  readonly onTimeMoved: readonly ((world: OpenWorld) => Promise<unknown>)[];
  /** The machine's own time, for requests that wait and for keys: a world's clock may stand still. */
  readonly realTime: { nowMs(): number; monotonicMs(): number; sleepMs(ms: number): Promise<void> };
  /** Called when the console or another caller took a short-lived copy of a token. */
  onTokenCopied?(token: NodeId, copy: NodeId): void;
  /** Called with the hash of a key that was replaced and the value of the new one, where the old one may be kept in a file. */
  onKeyReplaced?(oldHash: string, key: string): void;
  /** The server that serves this API. */
  readonly server: ServedBy;
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
  /** That serve the graph. */
  readonly processes: number;
  /** As a signal would: no new requests, running ones end. */
  stop(): void;
}

/** The key that a request was made with. */
export interface CallerKey {
  readonly hash: string;
  /** `read`: GET, and nothing else. */
  readonly access: "full" | "read";
  /** undefined: it is the configured one. */
  readonly stored: ControlKeyRow | undefined;
}

export interface ControlRequest<Q = unknown, B = unknown> {
  readonly deps: ControlDeps;
  readonly key: CallerKey;
  /** The world that the path names; the first one where it names none, or where the route is about the world as a whole. */
  readonly world: OpenWorld;
  /** Segments of the path by name, e.g. `{id}`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The address of the request without its query, for links. */
  readonly url: string;
  /** Lower-case name; undefined when it was not sent. */
  header(name: string): string | undefined;
  /** Of a route that `reportsProgress`: to be called now and then. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{w}` for a world's name. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly query?: TObject;
  /** A JSON body by its schema; `text`: the body as it is (a world file); `entry`: a node's entry, checked by its section; `file`: the request itself, whose body the handler reads as a stream; `form`: the text of a small form, or of JSON whose keys are somebody else's. */
  readonly body?: TSchema | "text" | "entry" | "file" | "form";
  /** What a `file` or a `form` looks like, by media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
  readonly status?: 200 | 201;
  /** When its response has the status 202, with the same content. The handler then returns the `Response` itself. */
  readonly unfinished?: string;
  /** The request brings a secret of its own, so it needs no control key, and its handler is given none. */
  readonly needsNoKey?: true;
  /** `entry` and `entries`: what the section of `{key}` says of its nodes; `file`: a world file. */
  readonly response: TSchema | "entry" | "entries" | "file";
  /** Media types of responses that are streams: the handler then returns the `Response` itself. */
  readonly streams?: readonly string[];
  /**
   * It may take long. With `Accept: text/event-stream` its response is a stream of the events `progress` (`{done, total}`; it may begin anew), and at its end
   * `result` or `error` with what the response would have held.
   */
  readonly reportsProgress?: true;
  /** It returns no JSON but its streams, and `response` is what one event or line of them holds. */
  readonly isStreamAlone?: true;
  /** Beside those that follow from the route: 400 and 413 of a query or a body, 401, 403, 404 of an address with names. */
  readonly errors?: readonly (400 | 409 | 422)[];
  /** What stands beside the `error` of a 422. */
  readonly unmet?: TSchema;
  /** It is about the world as a whole, which need not be open; `path.w` names it. */
  readonly isAboutWorld?: boolean;
  /** Its stream is of what the process remembers beside the world, and goes on when the world is reset or restored. */
  readonly outlivesReset?: boolean;
  handle(request: ControlRequest): Promise<unknown>;
}

// Features stand above this layer and their type below it, so the type learns of the routes from here.
declare module "#graph/contract/feature" {
  interface Feature {
    /** Routes of the control API that steer what the feature owns. */
    readonly controlRoutes?: readonly ControlRoute[];
  }
}

/** A body without a schema of its own says what it is by a word. */
type BodyWord = Extract<ControlRoute["body"], string>;
type WithTypes = "method" | "path" | "operation" | "query" | "body" | "response" | "handle";

interface RouteInput<Q extends TObject, B extends TSchema | BodyWord> extends Omit<ControlRoute, WithTypes> {
  readonly query?: Q;
  readonly body?: B;
  /** Left out: that it has succeeded, and the handler returns nothing. */
  readonly response?: ControlRoute["response"];
  handle(request: ControlRequest<Static<Q>, B extends TSchema ? Static<B> : unknown>): Promise<unknown>;
}

const succeeded = Type.Object({ success: Type.Boolean() });

/** `address`: method and path, e.g. `GET /v1/worlds/{w}/clock`. Keeps the types of query and body inside the route. */
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
