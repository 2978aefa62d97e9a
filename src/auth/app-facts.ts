/**
 * Facts about the app to which a request's token belongs. Every request needs facts about its app. The apps feature provides the port that reads the
 * facts about an app.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { FactCache } from "#storage/facts";

export interface AppFacts {
  readonly id: NodeId;
  readonly name: string;
  /** D-12: while the app is in development, the operation G1 also takes its token from the query. */
  readonly mode: "development" | "live";
  /** The time at which the app was created, in Unix seconds. */
  readonly created_time: number;
  /** The time of the app's first marketing request, in Unix seconds. 0 means that the app has sent no marketing request (VER-5). */
  readonly marketing_first_used_time: number;
  readonly auto_upgrade: boolean;
  readonly require_appsecret_proof: boolean;
  readonly allow_tokenless_events: boolean;
  readonly automatic_event_logging: boolean;
  readonly access_level: "standard" | "advanced";
  readonly messaging_access: boolean;
  readonly event_name_limit: number;
  /** D-363: JSON Schemas of the app's custom events, by the names of the events. */
  readonly event_schemas: Readonly<Record<string, unknown>>;
  /** D-381: the addresses to which the login dialog may send people back. */
  readonly redirect_uris: readonly string[];
  /** D-385: the app's callback for people who remove the app. */
  readonly deauthorize_url?: string | undefined;
  /** D-387: the app's callback for people who want their data deleted. */
  readonly data_deletion_url?: string | undefined;
  /** D-82: the migrations that the app itself has switched on or off, by name. */
  readonly migrations: Readonly<Record<string, boolean>>;
  /** The SHA-256 of the app's secret in hex, to check a token of the form `{app_id}|{app_secret}`. */
  readonly secret_hash: string;
  /** The encrypted secret of the app. A hash would not be enough, because HMAC needs the secret itself (D-15, D-62). */
  readonly sealed_secret: string;
}

interface AppPort {
  findFacts(reader: Reader, app: NodeId): Promise<AppFacts | undefined>;
  /** Returns a map from the ids of apps to their names. The map leaves out apps that do not exist. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The roles of a person (`user` or `microblog_user` id) on the app, e.g. `administrator`, `microblog_tester`. */
  rolesOf(reader: Reader, app: NodeId, person: NodeId): Promise<readonly string[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    app: AppPort;
  }
}

/** Returns the world's cache for facts of one kind, e.g. `facts("page_role")`. */
export type FactsOf = <T>(kind: string) => Pick<FactCache<T>, "get">;

/**
 * Replaces the caches of facts inside a transaction: the replacement loads each fact again and stores none. A transaction must not fill a cache with
 * values that may never be committed, and must not read a cached value that may be out of date.
 */
export const uncachedFacts: FactsOf = () => ({ get: (key, load) => load(key) });
