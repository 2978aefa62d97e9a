/** Facts about the app of a token. Every request needs facts about its app. The apps feature provides the port that reads these facts. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { FactCache } from "#storage/facts";

export interface AppFacts {
  readonly id: NodeId;
  readonly name: string;
  /** D-12: the operation G1 takes a token in the query while the app is in development. */
  readonly mode: "development" | "live";
  /** When the app was created, in Unix seconds. */
  readonly created_time: number;
  /** Unix seconds of the app's first marketing request. 0: the app has sent no marketing request (VER-5). */
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
  /** D-82: which migrations the app itself has switched on or off, by name. */
  readonly migrations: Readonly<Record<string, boolean>>;
  /** The SHA-256 of the app's secret in hex, to check a token of the form `{app_id}|{app_secret}`. */
  readonly secret_hash: string;
  /** The app's secret, sealed and not only hashed, because HMAC needs the secret itself (D-15, D-62). */
  readonly sealed_secret: string;
}

interface AppPort {
  findFacts(reader: Reader, app: NodeId): Promise<AppFacts | undefined>;
  /** The names of those of the apps that exist, by id. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The roles of a person (`user` or `microblog_user` id) on the app, e.g. `administrator`, `microblog_tester`. */
  rolesOf(reader: Reader, app: NodeId, person: NodeId): Promise<readonly string[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    app: AppPort;
  }
}

/** Returns a world's cache for one kind of fact, e.g. `facts("page_role")`. */
export type FactsOf = <T>(kind: string) => Pick<FactCache<T>, "get">;

/**
 * Stands for the caches in a transaction, and caches nothing: values that a transaction reads may never be committed, and cached values may be out of
 * date.
 */
export const uncachedFacts: FactsOf = () => ({ get: (key, load) => load(key) });
