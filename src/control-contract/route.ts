/**
 * Types and functions for the contract of the control API. Each route of the control API is defined as data, and the OpenAPI
 * document is made from that data.
 */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ControlKeyRow } from "#auth/control-keys.store";
import type { Registry } from "#graph/contract/registry";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { NodeId } from "#kernel/ids";
import type { DatabaseProblem } from "#storage/database-health";

/** The addresses of the graph. The graph has several surfaces, each with its own host (D-01). */
export interface ServerDescription {
  readonly sandbox: boolean;
  readonly base_url: string;
  readonly app_base_url: string;
  readonly microblog_base_url: string;
  readonly ads_base_url: string;
  readonly social_login_host: string;
  /** The address to which encoders of live videos connect; undefined if the server does not receive live video. */
  readonly rtmp_url?: string;
}

/** The functions and data of the server that the control API uses. */
export interface ControlDeps {
  readonly registry: Registry;
  readonly worlds: Omit<Worlds, "start" | "ping" | "closeUnused" | "hasMore" | "enter" | "enterOpen" | "outside" | "close">;
  /**
   * Whether this process itself serves the graph. With `--workers`, other processes serve the graph, and these processes do not
   * see the memory of this process.
   */
  readonly servesGraph: boolean;
  /** Returns the addresses for a caller who reaches this server by `hostname`. */
  describeServer(hostname: string): ServerDescription;
  /** Makes the value of a new token from the seed of its world and the id of the token. */
  mintTokenValue(seed: number | undefined, id: NodeId): string;
  /**
   * D-407: returns the values of the demo world's tokens, which the list of tokens shows. Only a sandbox has this function;
   * other servers leave it undefined.
   */
  demoTokenValues?(): Promise<readonly string[]>;
  /** The functions that are called, in this order, after a world's time was moved and before the response is sent. */
  readonly onTimeMoved: readonly ((world: OpenWorld) => Promise<unknown>)[];
  /** The clock of real time. Requests that wait and keys that expire use real time, because a world's clock may be stopped. */
  readonly realTime: { nowMs(): number; monotonicMs(): number; sleepMs(ms: number): Promise<void> };
  /** The settings of the audit list (D-331): for how many days entries are kept, and whether requests that only read get entries. */
  readonly audit: { readonly days: number; readonly reads: boolean };
  /** Makes random text in hex. */
  newRandom(byteCount: number): string;
  /** Called after a caller has created a short-lived copy of a token. */
  onTokenCopied?(token: NodeId, copy: NodeId): void;
  /** Called with the hash of a replaced control key and the value of the new key, because a file that contains the old key must get the new key. */
  onKeyReplaced?(oldHash: string, key: string): void;
  /** The process that serves this API. */
  readonly server: ServedBy;
  /** Returns the current database problems of all processes of the server. */
  databaseProblems(): Promise<readonly DatabaseProblem[]>;
  /** A signal that is aborted when the server begins to end, so that all event streams end. */
  readonly ending: AbortSignal;
}

/** The data that clients of the control API see about the process that serves it. */
export interface ServedBy {
  readonly version: string;
  readonly pid: number;
  /** The time at which the process started, in Unix ms of real time. */
  readonly startedMs: number;
  readonly base_url: string;
  readonly data: "sqlite" | "memory" | "postgres";
  readonly sandbox: boolean;
  /** The number of processes that serve the graph. */
  readonly processes: number;
  /** After the server is asked to stop, requests are still served for this many milliseconds. */
  readonly drain_delay_ms: number;
  /** Stops the server in the same way as a signal to the process. */
  stop(): void;
}

/** The control key that the request was sent with. */
export interface CallerKey {
  readonly hash: string;
  /** The access of the key. A control key with the access `read` allows only GET and HEAD, and gets no secrets in responses (D-170). */
  readonly access: "full" | "read";
  /** The only world that the key can read and change; undefined if the key is valid for all worlds and for the server. */
  readonly world: string | undefined;
  /** The stored row of the key; undefined for the configured key, which is not stored. */
  readonly stored: ControlKeyRow | undefined;
}

export interface ControlRequest<Q = unknown, B = unknown> {
  readonly deps: ControlDeps;
  readonly key: CallerKey;
  /**
   * True if the path names a world that is closed or does not exist; in this case `world` is the first world. If the named world is not open, a route
   * with `needsNoKey` takes the secret in the request as wrong, unless the closed world has that secret (`Worlds.holdIf`).
   */
  readonly isNoWorld: boolean;
  /** The world that the path names; the first world if the path names no world, or if the route is about the world as a whole. */
  readonly world: OpenWorld;
  /** The values of the path's named segments, e.g. of `{id}`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The URL of the request without its query, for links in the response. */
  readonly url: string;
  /** Returns the value of a header, whose name is given in lower case; undefined if the header was not sent. */
  header(name: string): string | undefined;
  /** Reports progress. This function exists only for a route with `reportsProgress`; the route's handler calls the function from time to time. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path, in which `{w}` is the name of a world. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly query?: TObject;
  /**
   * The schema of a JSON request body, or a keyword. `text`: the body is text (a world file). `entry`: the body is a node as in a world file, and
   * is checked with the schema of the node's section of the world file. `file`: the handler gets the request and reads its body as a stream.
   * `form`: the body is a small form, or JSON with other keys; the handler gets the text.
   */
  readonly body?: TSchema | "text" | "entry" | "file" | "form";
  /** The member of a JSON body that is a world file. The handler gets the file as text, whether it was sent as text or as an object. */
  readonly fileMember?: string;
  /** If the body is `file` or `form`, the schemas of the body, by media type. */
  readonly content?: Readonly<Record<string, TSchema>>;
  readonly status?: 200 | 201;
  /**
   * The description of the status 202, if the response can also have this status, with the same content. A handler of a route with this
   * property returns a `Response`.
   */
  readonly unfinished?: string;
  /**
   * Set if the request contains its own secret and therefore needs no control key. The handler of such a route gets no control key. If the world
   * in the path is closed or does not exist, the handler gets the first world and `isNoWorld`. Therefore strangers can neither find out which
   * worlds exist nor open a world.
   */
  readonly needsNoKey?: true;
  /** Whether the response shows secrets to a key with full access. The audit list has an entry for each request that shows secrets. */
  readsSecrets?(path: Readonly<Record<string, string>>, query: Readonly<Record<string, string>>): boolean;
  /** Set if a key that is bound to a world may send the request although the path does not name a world. */
  readonly servesBoundKeys?: true;
  /**
   * The schema of the response, or a keyword. `entry` and `entries`: one node or several nodes of the section `{key}` of the world file, which
   * has the schema of these nodes. `file`: a world file.
   */
  readonly response: TSchema | "entry" | "entries" | "file";
  /** The media types of responses that are streams. If the route has such media types, the handler returns a `Response`. */
  readonly streams?: readonly string[];
  /**
   * Set if a request to the route may take long. With `Accept: text/event-stream` the response is a stream of events: first events `progress`
   * with `{done, total}`, whose numbers may begin again, and at the end `result` or `error` with the content of the ordinary response.
   */
  readonly reportsProgress?: true;
  /** Set if the route returns only streams. If this is set, `response` is the schema of one event or line. */
  readonly isStreamAlone?: true;
  /**
   * The additional error statuses of the route. All other error statuses follow from the route's definition: 400 and 413 if it has a query or a
   * body, 404 if its path has placeholders, and 401 and 403 because of the key.
   */
  readonly errors?: readonly (400 | 409 | 422)[];
  /** The schema of the keys that a 422 response has beside `error`. */
  readonly unmet?: TSchema;
  /** Whether the route is about the world as a whole; if it is, the world need not be open. In the handler, `path.w` is the name of the world. */
  readonly isAboutWorld?: boolean;
  /** Whether the route's stream goes on when the world is reset or restored, because the stream shows data of the process and not of the world. */
  readonly outlivesReset?: boolean;
  handle(request: ControlRequest): Promise<unknown>;
}

// This layer may not import features, and a lower layer defines the type `Feature`. Therefore this declaration adds
// `controlRoutes` to the type `Feature`.
declare module "#graph/contract/feature" {
  interface Feature {
    /** The feature's routes of the control API. */
    readonly controlRoutes?: readonly ControlRoute[];
  }
}

/** A keyword in place of the schema of a request body. The keyword says how the route reads the request body. */
type BodyWord = Extract<ControlRoute["body"], string>;
type WithTypes = "method" | "path" | "operation" | "query" | "body" | "response" | "handle";

interface RouteInput<Q extends TObject, B extends TSchema | BodyWord> extends Omit<ControlRoute, WithTypes> {
  readonly query?: Q;
  readonly body?: B;
  /** The schema of the response. If a route has no schema of a response, the handler returns nothing, and the response only reports success. */
  readonly response?: ControlRoute["response"];
  handle(request: ControlRequest<Static<Q>, B extends TSchema ? Static<B> : unknown>): Promise<unknown>;
}

const succeeded = Type.Object({ success: Type.Boolean() });

/**
 * Defines a route. `address` is the method and the path, e.g. `GET /v1/worlds/{w}/clock`. The handler gets the query and the body with the types of
 * their schemas.
 */
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
