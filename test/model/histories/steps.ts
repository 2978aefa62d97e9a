/** A history as data: worlds and steps that name nodes by the order in which they came, so that a step can be left out. */
import type { Place } from "../reference/credentials.ts";
import type { ActionStatus, Activity, Followers, MigrationIntent } from "../reference/nodes.ts";
import type { FeedFile, Surface } from "../reference/requests.ts";
import type { NodeType, Profile, VersionsEntry } from "../reference/world.ts";

/** `pick` counts from the oldest node of the type, or, below zero, from the newest; also those that are deleted. */
export type NodeName = { readonly type: NodeType; readonly pick: number } | { readonly id: string };

/**
 * JSON, in which `{$node}` stands for an id, `{$callback}` for an address of the receiver, `{$file}` for one of a file, `{$repeated}` for a
 * parameter that is sent several times, and `{$result}` for a text with a reference to an earlier part of the batch.
 */
export type Value = unknown;

/** A text around a reference: `before{result=…:path}after`. */
export interface ResultValue {
  readonly $result: { readonly part: number; readonly path: string; readonly before: string; readonly after: string };
}

/** How a form or a multipart body writes lists and objects, if not as JSON: `a[]=x`, `a[0]=x`, or a list as a name that is repeated. */
export type Nesting = "[]" | "[0]" | "repeated";

interface Proof {
  readonly is: "right" | "upper" | "wrong";
  readonly place: "query" | "body";
}

export interface RequestStep {
  readonly kind: "request";
  readonly world: number;
  /** The operation that the step means. The model decides by itself which one it is. */
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
  /** Of the first token of the request (D-15). */
  readonly proof?: Proof;
  /** D-04: the verb in the parameter `method` of a POST; or, after a GET, the same by HEAD; or, after any, the address by OPTIONS. */
  readonly verb?: "parameter" | "head" | "options";
  /** Each parameter of the query twice (D-160); those of a read in its body (D-34); by a page of another site (D-240); with a body in gzip (D-330); with too large a head or body. */
  readonly sent?: "twice" | "in the body" | "by a page" | "gzip" | "large head" | "large body";
  /** `own`: a cursor of the list that is asked, newest first; `any`: of any list. */
  readonly cursor?: { readonly name: "before" | "after"; readonly pick: number; readonly from: "own" | "any" };
}

/** A request of a batch. Without tokens of its own it has those of the batch. */
export interface BatchPart {
  readonly step: RequestStep;
  /** The number of an earlier part whose `id` replaces the node's. */
  readonly nodeOf?: number;
  /** The number of an earlier part that has to succeed. */
  readonly dependsOn?: number;
  readonly isOmitted: boolean;
  /** The method is HEAD. */
  readonly isHead: boolean;
  /** `If-None-Match` of a read: `*`, or the tag of something else. */
  readonly tag?: "any" | "another" | undefined;
  /** Headers as a list of lines or as an object. */
  readonly headers: "list" | "object";
  /** The body has a Content-Type, which only multipart needs. */
  readonly isTyped: boolean;
  /** References with bare braces, or with encoded ones. */
  readonly references: "bare" | "encoded";
  /** `relative_url` as a path with or without its first slash, or as a whole address. */
  readonly address: "path" | "/path" | "whole";
  /** A JSON body as an object instead of a text. */
  readonly isObject: boolean;
}

export interface BatchStep {
  readonly kind: "batch";
  readonly world: number;
  readonly surface: Surface;
  readonly version: string | null;
  readonly token: string;
  /** The places of the token of the batch. */
  readonly places: readonly Place[];
  /** Of the token, for all parts that use it. */
  readonly proof?: Proof;
  readonly notation: "json" | "form" | "multipart";
  readonly hasHeaders: boolean;
  /** `migrations_override`. */
  readonly override?: Value;
  /** A header that a part cannot have, in its first part. */
  readonly foreignHeader?: string | undefined;
  readonly parts: readonly BatchPart[];
}

/** Follows a link of the last page that had one. */
interface FollowStep {
  readonly kind: "follow";
  readonly world: number;
  readonly link: "next" | "previous";
}

/** One read of several nodes: what the step would ask of its node. */
export interface ManyStep {
  readonly kind: "many";
  readonly world: number;
  readonly step: RequestStep;
  readonly nodes: readonly NodeName[];
}

/** Asks again what was last answered, with the entity tag of the response, or of another one. */
export interface AgainStep {
  readonly kind: "again";
  readonly world: number;
  readonly tag: "same" | "weak" | "one of two" | "any" | "another";
}

interface AdvanceStep {
  readonly kind: "advance";
  readonly world: number;
  readonly seconds: number;
  /** The move is made in pieces: each request may take so much real time (D-266). */
  readonly within_ms?: number;
}

interface RevokeStep {
  readonly kind: "revoke";
  readonly world: number;
  readonly token: string;
}

/** From then on requests of the world bring a copy of the token in its place (D-270). */
interface CopyStep {
  readonly kind: "copy";
  readonly world: number;
  readonly token: string;
}

/** A person of a page is erased. */
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

/** Only along the moves that the interface knows. */
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
  /** How old it is, in seconds. */
  readonly age: number;
}

/** Something that people do in the platform's own apps. */
export interface InAppStep {
  readonly kind: "in app";
  readonly world: number;
  readonly what: "self-message" | "postback" | "comment" | "chatapp";
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * The callbacks of the world respond so while the cause happens. After a 500 a webhook comes again after a while, after a 410 when it is
 * replayed. `days`: they fail for six days, and the cause happens on each of them. `paused`: they work, and a person has paused them (D-273). `forSeconds`: they fail while the clock moves by this
 * time at once.
 */
export interface OutageStep {
  readonly kind: "outage";
  readonly world: number;
  readonly response: 500 | 410 | "days" | "paused" | { readonly forSeconds: number };
  readonly cause: InAppStep;
  /** While what it caused waits to come again. */
  readonly meanwhile?: readonly (RequestStep | ChangeStep)[];
}

/** An app gets a new secret. */
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

/** Something that encoders and operators do to a live video. */
export interface LiveStep {
  readonly kind: "live";
  readonly world: number;
  readonly what: "ingest" | "sealing" | "takedown" | "restore" | "restore-notice";
  readonly video: NodeName;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A file comes for a product feed; null: it is not a file of a feed. */
export interface FeedFileStep {
  readonly kind: "feed file";
  readonly world: number;
  readonly feed: NodeName;
  readonly updateOnly: boolean;
  readonly rows: FeedFile["rows"];
}

/** Counts of the microblog are recorded. */
export interface RecordStep {
  readonly kind: "record";
  readonly world: number;
  readonly entry: { readonly activity: Activity } | { readonly followers: Followers };
}

/** A name of an app's events is deactivated, or none, and the sums and the report are looked at. */
export interface EventsStep {
  readonly kind: "events";
  readonly world: number;
  readonly app: string;
  readonly deactivate?: string | undefined;
  /** The report has events from then on. */
  readonly since: number;
}

/** An ad is clicked or seen. */
export interface TouchStep {
  readonly kind: "touch";
  readonly world: number;
  readonly what: "clicks" | "impressions";
  readonly fields: Readonly<Record<string, Value>>;
}

/** A write is sent, and the process that has it ends, by SIGTERM or SIGKILL, and starts on the same data. */
export interface RestartStep {
  readonly kind: "restart";
  readonly world: number;
  readonly how: "stop" | "kill";
  readonly request: RequestStep;
  /** After the write was sent; null: after its response. */
  readonly afterMs: number | null;
}

/** A file comes for a feed, and the process that took it ends while it may be read. */
export interface InterruptStep {
  readonly kind: "interrupt";
  readonly world: number;
  readonly how: "stop" | "kill";
  readonly upload: FeedFileStep;
  /** After the file was taken. */
  readonly afterMs: number;
}

/** The world is exported, and the history goes on in a fresh one that is loaded from it. */
export interface MoveStep {
  readonly kind: "move";
  readonly world: number;
  /** A server that is started for it, with a key of its own for what it seals; else the same one. */
  readonly into?: "server";
}

/** The world is kept as it is, or is again as it was kept last (D-262). */
interface SnapshotStep {
  readonly kind: "snapshot";
  readonly world: number;
  readonly what: "take" | "restore";
}

/** The steps that the control API makes. */
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
  /** The first time of the clock, if it is not the usual one. */
  readonly begins?: number;
  /** The calendar of the worlds, if it is not the usual one. */
  readonly versions?: VersionsEntry;
  readonly steps: readonly Step[];
}
