/** A history as data: worlds, and steps that refer to nodes by the order in which these were made, so that any step can be left out. */
import type { Place } from "../reference/credentials.ts";
import type { ActionStatus, Activity, Followers, MigrationIntent } from "../reference/nodes.ts";
import type { FeedFile, Surface } from "../reference/requests.ts";
import type { NodeType, Profile, VersionsEntry } from "../reference/world.ts";

/** A node. `pick` counts nodes of the type from the oldest one or, if negative, from the newest one; deleted nodes count too. */
export type NodeName = { readonly type: NodeType; readonly pick: number } | { readonly id: string };

/**
 * A JSON value, in which some objects stand for other values: `{$node}` for an id, `{$callback}` for an address of the receiver, `{$file}` for the
 * address of a file, `{$repeated}` for a parameter that is sent several times, and `{$result}` for a text that refers to an earlier request of the
 * batch.
 */
export type Value = unknown;

/** A text that contains a reference: `before{result=…:path}after`. */
export interface ResultValue {
  readonly $result: { readonly part: number; readonly path: string; readonly before: string; readonly after: string };
}

/** The way in which a form or a multipart body writes lists and objects, if not as JSON: `a[]=x`, `a[0]=x`, or a list as a repeated name. */
export type Nesting = "[]" | "[0]" | "repeated";

interface Proof {
  readonly is: "right" | "upper" | "wrong";
  readonly place: "query" | "body";
}

export interface RequestStep {
  readonly kind: "request";
  readonly world: number;
  /** The operation for which the step was drawn. The model decides by itself which operation the request is. */
  readonly operation: string;
  readonly method: string;
  readonly surface: Surface;
  readonly version: string | null;
  readonly node: NodeName;
  readonly edge: string;
  readonly tokens: Readonly<Partial<Record<Place, string>>>;
  readonly query: Readonly<Record<string, Value>>;
  readonly body?: {
    readonly kind: "json" | "form" | "multipart";
    readonly fields: Readonly<Record<string, Value>>;
    readonly file?: FeedFile;
    readonly nesting?: Nesting | undefined;
  };
  readonly headers?: Readonly<Record<string, string>>;
  /** The proof of the first token of the request (D-15). */
  readonly proof?: Proof;
  /** D-04: the method in the parameter `method` of a POST; or a HEAD with the same address after a GET; or an OPTIONS after any request. */
  readonly verb?: "parameter" | "head" | "options";
  /**
   * The unusual way in which the request is sent: each parameter of the query twice (D-160); the parameters of a read in its body (D-34); from a page
   * of another site (D-240); with a body in gzip (D-330); with a head or a body that is too large.
   */
  readonly sent?: "twice" | "in the body" | "by a page" | "gzip" | "large head" | "large body";
  /** A cursor of a list. `own` is a cursor of the list that the step reads, the newest first; `any` is a cursor of any list. */
  readonly cursor?: { readonly name: "before" | "after"; readonly pick: number; readonly from: "own" | "any" };
}

/** A request of a batch. If the request has no tokens of its own, it uses those of the batch. */
export interface BatchPart {
  readonly step: RequestStep;
  /** The number of an earlier request of the batch whose `id` replaces the id of the node. */
  readonly nodeOf?: number;
  /** The number of an earlier request of the batch that must succeed before this one runs. */
  readonly dependsOn?: number;
  readonly isOmitted: boolean;
  /** Whether the method is HEAD. */
  readonly isHead: boolean;
  /** The header `If-None-Match` of a read: `*`, or the entity tag of another response. */
  readonly tag?: "any" | "another" | undefined;
  /** Whether the headers of the request are given as a list of lines or as an object. */
  readonly headers: "list" | "object";
  /** Whether the body of the request has a Content-Type, which only a multipart body needs. */
  readonly isTyped: boolean;
  /** Whether the braces of references are bare or percent-encoded. */
  readonly references: "bare" | "encoded";
  /** The form of `relative_url`: a path with or without its first slash, or a whole address. */
  readonly address: "path" | "/path" | "whole";
  /** Whether the JSON body of a request in a batch is given as an object instead of a text. */
  readonly isObject: boolean;
}

export interface BatchStep {
  readonly kind: "batch";
  readonly world: number;
  readonly surface: Surface;
  readonly version: string | null;
  readonly token: string;
  /** The places in which the batch carries its token. */
  readonly places: readonly Place[];
  /** The proof of the secret for the batch's token, which counts for all requests that use this token. */
  readonly proof?: Proof;
  readonly notation: "json" | "form" | "multipart";
  readonly hasHeaders: boolean;
  /** The value of `migrations_override`. */
  readonly override?: Value;
  /** A header that a request of a batch may not have; the history adds it to the first request. */
  readonly foreignHeader?: string | undefined;
  readonly parts: readonly BatchPart[];
}

/** Requests a link of the last page that had links. */
interface FollowStep {
  readonly kind: "follow";
  readonly world: number;
  readonly link: "next" | "previous";
}

/** A read of several nodes in one request. The step says which fields of each node to read. */
export interface ManyStep {
  readonly kind: "many";
  readonly world: number;
  readonly step: RequestStep;
  readonly nodes: readonly NodeName[];
}

/** Repeats the last successful read with an entity tag: the tag of its response, or another tag. */
export interface AgainStep {
  readonly kind: "again";
  readonly world: number;
  readonly tag: "same" | "weak" | "one of two" | "any" | "another";
}

interface AdvanceStep {
  readonly kind: "advance";
  readonly world: number;
  readonly seconds: number;
  /** The clock is moved in pieces: each request of the move may take this much real time (D-266). */
  readonly within_ms?: number;
}

interface RevokeStep {
  readonly kind: "revoke";
  readonly world: number;
  readonly token: string;
}

/** After this step, requests to the world use a copy of the token instead of the token (D-270). */
interface CopyStep {
  readonly kind: "copy";
  readonly world: number;
  readonly token: string;
}

/** Erases a person of a page. */
interface EraseStep {
  readonly kind: "erase";
  readonly world: number;
  readonly person: NodeName;
}

export interface RolesStep {
  readonly kind: "roles";
  readonly world: number;
  readonly page: string;
  readonly roles: readonly { readonly user: string; readonly tasks: readonly string[] }[];
}

/** Moves a required action to another status, but only along transitions that the interface has. */
export interface MoveActionStep {
  readonly kind: "move action";
  readonly world: number;
  readonly action: string;
  readonly to: ActionStatus;
}

export interface AddMediaStep {
  readonly kind: "add media";
  readonly world: number;
  readonly owner: string;
  readonly private: boolean;
  readonly tagged: readonly string[];
  readonly caption: string;
  /** The age of the node in seconds. */
  readonly age: number;
}

/** An action of a person in the platform's own apps. */
export interface InAppStep {
  readonly kind: "in app";
  readonly world: number;
  readonly what: "self-message" | "postback" | "comment" | "chatapp";
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Something happens while the callbacks of the world respond with an error. After a 500, the server sends a webhook again after a while; after a 410,
 * only when the webhook is replayed. `days`: the callbacks fail for six days, and the cause happens on each day. `paused`: the callbacks work, but a
 * person has paused them (D-273). `forSeconds`: the callbacks fail while the clock moves by this time at once.
 */
export interface OutageStep {
  readonly kind: "outage";
  readonly world: number;
  readonly response: 500 | 410 | "days" | "paused" | { readonly forSeconds: number };
  readonly cause: InAppStep;
  /** Steps that happen while the webhooks that the cause made wait for their next attempt. */
  readonly meanwhile?: readonly (RequestStep | ChangeStep)[];
}

/** Gives an app a new secret. */
export interface SecretStep {
  readonly kind: "secret";
  readonly world: number;
  readonly app: string;
  readonly secret: string;
}

export interface MoveIntentStep {
  readonly kind: "move intent";
  readonly world: number;
  readonly intent: NodeName;
  readonly to: MigrationIntent["status"];
}

/** A change of a live video by an encoder or an operator. */
export interface LiveStep {
  readonly kind: "live";
  readonly world: number;
  readonly what: "ingest" | "sealing" | "takedown" | "restore" | "restore-notice";
  readonly video: NodeName;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Sends a file to a product feed. null stands for a file that is not a feed file. */
export interface FeedFileStep {
  readonly kind: "feed file";
  readonly world: number;
  readonly feed: NodeName;
  readonly updateOnly: boolean;
  readonly rows: FeedFile["rows"];
}

/** Records counts of the microblog. */
export interface RecordStep {
  readonly kind: "record";
  readonly world: number;
  readonly entry: { readonly activity: Activity } | { readonly followers: Followers };
}

/** Compares the sums and the report of an app's events. The step may first deactivate the name of an event. */
export interface EventsStep {
  readonly kind: "events";
  readonly world: number;
  readonly app: string;
  readonly deactivate?: string | undefined;
  /** The time from which on the report includes events. */
  readonly since: number;
}

/** Records a click on an ad, or an impression of it. */
export interface TouchStep {
  readonly kind: "touch";
  readonly world: number;
  readonly what: "clicks" | "impressions";
  readonly fields: Readonly<Record<string, Value>>;
}

/** Sends a write, and ends the process that handles the write by SIGTERM or SIGKILL. After its end, the process starts again on the same data. */
export interface RestartStep {
  readonly kind: "restart";
  readonly world: number;
  readonly how: "stop" | "kill";
  readonly request: RequestStep;
  /** The milliseconds between the sending of the write and the end of the process; null ends the process after the response. */
  readonly afterMs: number | null;
}

/** Sends a file to a feed, and ends the process that accepted the file, perhaps while it reads the file. */
export interface InterruptStep {
  readonly kind: "interrupt";
  readonly world: number;
  readonly how: "stop" | "kill";
  readonly upload: FeedFileStep;
  /** The milliseconds between the acceptance of the file and the end of the process. */
  readonly afterMs: number;
}

/** Exports the world. The history continues in a new world that is made from the export. */
export interface MoveStep {
  readonly kind: "move";
  readonly world: number;
  /** Moves the world to another server, which has a sealing key of its own. By default, the world stays on the same server. */
  readonly into?: "server";
}

/** Saves the world as a snapshot, or restores the last snapshot (D-262). */
interface SnapshotStep {
  readonly kind: "snapshot";
  readonly world: number;
  readonly what: "take" | "restore";
}

/** The step types that use the control API. */
export type ChangeStep =
  | SnapshotStep
  | SecretStep
  | EventsStep
  | TouchStep
  | LiveStep
  | FeedFileStep
  | RecordStep
  | MoveStep
  | InAppStep
  | MoveIntentStep
  | AdvanceStep
  | RevokeStep
  | CopyStep
  | EraseStep
  | RolesStep
  | MoveActionStep
  | AddMediaStep;

export type Step = RequestStep | BatchStep | ManyStep | AgainStep | FollowStep | OutageStep | RestartStep | InterruptStep | ChangeStep;

export interface History {
  readonly worlds: readonly Profile[];
  /** The time at which the world's clock starts, if it differs from the usual time. */
  readonly begins?: number;
  /** The calendar of the worlds, if it differs from the usual calendar. */
  readonly versions?: VersionsEntry;
  readonly steps: readonly Step[];
}
