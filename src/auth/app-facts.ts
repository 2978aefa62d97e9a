/** Facts about the app of a token, which every request needs. The apps feature provides the port. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { FactCache } from "#storage/facts";

export interface AppFacts {
  readonly id: NodeId;
  readonly name: string;
  /** D-12: G1 takes a query token while the app is in development. */
  readonly mode: "development" | "live";
  /** Unix seconds. */
  readonly created_time: number;
  /** Unix seconds of the first marketing request. 0: there was none (VER-5). */
  readonly marketing_first_used_time: number;
  readonly auto_upgrade: boolean;
  readonly require_appsecret_proof: boolean;
  readonly allow_tokenless_events: boolean;
  readonly automatic_event_logging: boolean;
  readonly access_level: "standard" | "advanced";
  readonly messaging_access: boolean;
  readonly event_name_limit: number;
  /** D-82: the app's own settings. */
  readonly migrations: Readonly<Record<string, boolean>>;
  /** Hex SHA-256 of the secret, for `{app_id}|{app_secret}`. */
  readonly secret_hash: string;
  /** The secret, sealed: HMAC needs it back (D-15, D-62). */
  readonly sealed_secret: string;
}

interface AppPort {
  findFacts(reader: Reader, app: NodeId): Promise<AppFacts | undefined>;
  /** Names by id, of the apps that exist. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The roles of a person (`user` or `microblog_user` id) on the app, e.g. `administrator`, `microblog_tester`. */
  rolesOf(reader: Reader, app: NodeId, person: NodeId): Promise<readonly string[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    app: AppPort;
  }
}

/** A world's cache for one kind of fact, e.g. `facts("page_role")`. */
export type FactsOf = <T>(kind: string) => Pick<FactCache<T>, "get">;

/** In a transaction: what it reads may never be committed, and what a cache has may have changed. */
export const uncachedFacts: FactsOf = () => ({ get: (_key, load) => load() });
