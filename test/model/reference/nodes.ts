/** The nodes of a world, with one interface for each type of node. All times in these interfaces are Unix seconds. */
import type { PlannedFetch, ScheduleKind } from "./files.ts";

export type TokenKind = "app" | "user" | "page" | "social_user" | "microblog_user" | "system_user";

export interface Token {
  readonly value: string;
  readonly type: TokenKind;
  readonly app: string;
  readonly user?: string;
  readonly page?: string;
  readonly social_account?: string;
  readonly microblog_user?: string;
  readonly scopes: readonly string[];
  readonly issued_at: number;
  /** The time at which the token ends, in Unix seconds; 0 if it never ends. */
  readonly expires_at: number;
  readonly data_access_expires_at: number;
  /** The value of the token that this token is a copy of (D-270). */
  readonly copyOf?: string;
  revoked: boolean;
}

export interface App {
  readonly id: string;
  readonly name: string;
  secret: string;
  /** D-132: the previous secret of the app, with which webhooks are also signed for a day of real time. */
  retired_secret?: string | undefined;
  readonly created_time: number;
  readonly mode: "live" | "development";
  readonly messaging_access: boolean;
  readonly access_level: "standard" | "advanced";
  readonly auto_upgrade: boolean;
  readonly event_name_limit?: number;
  readonly automatic_event_logging?: boolean;
  /** D-15. */
  readonly require_appsecret_proof?: boolean;
  readonly roles: readonly { readonly user?: string; readonly microblog_user?: string; readonly role: string }[];
  marketing_first_used_time: number | undefined;
  migrations: Record<string, boolean>;
}

export interface Ad {
  readonly id: string;
  readonly app: string;
  readonly campaign_id: string;
  readonly objective: string;
  readonly tracked_apps: readonly string[];
}

/** A click on an ad, or an impression of an ad. */
export interface Touch {
  readonly kind: "click" | "impression";
  readonly ad: Ad;
  readonly time: number;
  readonly devices: readonly string[];
  readonly persons: readonly string[];
}

/** An app event that was counted, with the devices and persons of its request. */
export interface LoggedEvent {
  readonly kind: string;
  readonly name: string;
  readonly time: number;
  readonly isTracked: boolean;
  /** The value of the event in millionths. */
  readonly value?: bigint | undefined;
  readonly currency?: string;
  readonly tie: { readonly devices: readonly string[]; readonly persons: readonly string[]; readonly isTracked: boolean };
}

/** The reported events of an app. */
export interface AppEvents {
  readonly names: Map<string, "active" | "deactivated">;
  /** The counted events that have an id, by which the server finds duplicates. */
  readonly counted: { readonly name: string; readonly id: string; readonly time: number }[];
  /** The counted events in the order in which they arrived. */
  readonly logged: LoggedEvent[];
  /** The ids of devices and persons that each accepted request names together. */
  readonly joined: (readonly string[])[];
  /** The devices and cookies that have reported an install. */
  readonly installs: Set<string>;
  /** The counts and the sums in millionths, by day, type of event, name and currency. */
  readonly sums: Map<string, { readonly count: number; readonly sum: bigint | undefined }>;
}

export interface Page {
  readonly id: string;
  readonly name: string;
  people: readonly { readonly psid: string; readonly name?: string }[];
  roles: readonly { readonly user: string; readonly tasks: readonly string[]; readonly via_business?: boolean }[];
  /** The apps that are subscribed to the webhooks of this node, with their fields. */
  readonly subscribed_apps: Map<string, readonly string[]>;
}

export interface Label {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly users: Set<string>;
}

export interface Persona {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly profile_picture_url: string;
}

export type ActionStatus = "completed" | "in_progress" | "in_review" | "past_due";

export interface RequiredAction {
  readonly id: string;
  readonly app: string;
  readonly title: string;
  readonly description?: string;
  readonly due_date?: number;
  status: ActionStatus;
  /** D-50: the time at which the status was written. */
  written: number;
}

export interface SocialAccount {
  readonly id: string;
  readonly username: string;
  readonly social_scoped_id?: string;
  readonly page?: string;
  readonly user?: string;
  readonly professional: boolean;
  readonly app_connections: readonly string[];
}

export interface Media {
  readonly id: string;
  readonly owner: string;
  readonly media_type: string;
  readonly media_product_type: string;
  readonly caption?: string;
  readonly timestamp: number;
  readonly private: boolean;
  readonly tagged: readonly string[];
  readonly like_count: number;
  readonly comments_count: number;
  readonly children: readonly string[];
}

export interface MicroblogUser {
  readonly id: string;
  readonly username: string;
  readonly user?: string;
}

export interface Activity {
  readonly target: string;
  readonly metric: string;
  readonly value: number;
  readonly time: number;
  readonly link_url?: string;
}

export interface Followers {
  readonly microblog_user: string;
  readonly country: string;
  readonly city: string;
  readonly age: string;
  readonly gender: string;
  readonly count: number;
  readonly time: number;
}

export type LiveState =
  | "unpublished"
  | "scheduled_unpublished"
  | "scheduled_live"
  | "scheduled_expired"
  | "scheduled_canceled"
  | "live"
  | "reconnecting"
  | "key_replaced"
  | "key_dead"
  | "ending"
  | "stopped"
  | "processing"
  | "vod"
  | "taken_down"
  | "lapsed";

export interface LiveVideo {
  readonly id: string;
  readonly page: string;
  title?: string;
  description?: string;
  state: LiveState;
  embeddable: boolean;
  place?: unknown;
  countries: readonly string[];
  excluded_countries: readonly string[];
  planned_start_time?: number;
  readonly creation_time: number;
  broadcast_start_time?: number;
  /** The stream key; undefined if the video has none, or if no response has shown the key. */
  stream_key?: string | undefined;
  hasFeed: boolean;
  /** The time at which the timer of the video's state is due. */
  deadline?: number | undefined;
  sealingFails: boolean;
  sealingTries: number;
  takedown_reason?: string | undefined;
  end_reason?: string;
  /** The pages that share the video. */
  crossposted: readonly string[];
  readonly comments: { readonly id: string; readonly actor: string; readonly message: string; readonly created_time: number }[];
  /** The reactions, by actor. */
  readonly reactions: Map<string, { readonly type: string; readonly time: number }>;
}

export interface Catalog {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly business?: string;
  readonly agencies: readonly { readonly business: string; readonly permitted_tasks: readonly string[] }[];
}

export interface Feed {
  readonly id: string;
  readonly catalog: string;
  name: string;
  /** The uploads, the oldest first. */
  readonly uploads: Upload[];
  readonly fetches: Map<ScheduleKind, PlannedFetch>;
  /** The items of the feed, by `retailer_id`. */
  items: Map<string, Readonly<Record<string, string>>>;
}

/** A file that was sent or fetched for a feed, with the result of the upload. */
export interface Upload {
  /** The id of the upload; undefined if no response has shown it. */
  id: string | undefined;
  readonly n: number;
  readonly feed: string;
  readonly time: number;
  /** The time at which the server had read the file to its end, if that is later than the upload. */
  readonly ended?: number;
  /** The URL from which the server fetched the file. */
  readonly url?: string;
  readonly filename?: string | undefined;
  /** The format of the file; undefined if no file arrived. */
  readonly format: string | undefined;
  readonly isUpdate: boolean;
  readonly rows: number;
  readonly bad: number;
  readonly items: number;
  readonly removed: number;
  readonly errors: readonly Readonly<Record<string, unknown>>[];
  /** The items of the feed after this upload; undefined if the upload failed. */
  readonly after: Map<string, Readonly<Record<string, string>>> | undefined;
}

export interface ChatappAccount {
  readonly id: string;
  readonly name: string;
  readonly business?: string;
  /** The subscribed apps, each with its alternate callback or undefined. */
  readonly subscribed_apps: Map<string, string | undefined>;
}

export interface PhoneNumber {
  readonly id: string;
  readonly account: string;
  readonly display_phone_number: string;
  readonly verified_name: string;
  /** The alternate callbacks, by app. */
  readonly overrides: Map<string, string>;
}

export interface MigrationIntent {
  readonly id: string;
  readonly waba: string;
  readonly destination_waba?: string;
  readonly solution?: string;
  status: "INITIATED" | "ACCEPTED" | "COMPLETED" | "REJECTED";
}

export interface Subscription {
  readonly callback: string;
  readonly fields: Set<string>;
}

/** The position of a cursor, which is a row of a list. The page of the list includes the row of the cursor only if `isInclusive` is set. */
export interface Position {
  readonly list: string;
  readonly key: bigint;
  readonly isInclusive: boolean;
}
