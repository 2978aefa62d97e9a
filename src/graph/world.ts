/**
 * A world is one isolated platform: its store, clock, ids, caches, limits and request log. It is a value; nothing of it is
 * global, so that many stand beside each other in one process.
 */
import type { FactsOf } from "#auth/facts-of";
import type { NodeRef } from "#auth/node-ref";
import { Tokens } from "#auth/tokens";
import type { Clock } from "#kernel/clock";
import type { IdMinter, NodeId } from "#kernel/ids";
import type { ReaderRegistry } from "#kernel/readers";
import type { Database } from "#storage/database";
import { FactCache } from "#storage/facts";
import { deriveKey, Sealer } from "#storage/sealing";
import type { GuardedClient } from "#webhooks/guarded-client";
import type { VersionCalendar } from "./calendar.ts";
import { Cursors } from "./cursors.ts";
import { findNode, nodeFact } from "./nodes.store.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RequestLog } from "./request-log.ts";

export type Profile = "strict" | "clients";

export interface WorldLimits {
  /** D-40. */
  readonly labels_per_page_max: number;
}

export interface WorldParts {
  readonly name: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: IdMinter;
  /** `--seed`, for token values. */
  readonly seed: number | undefined;
  readonly readers: ReaderRegistry;
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  readonly limits: WorldLimits;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  /** The only way out (D-64). */
  readonly outbound: GuardedClient;
  /** Random text of so many bytes, for secrets that the world makes itself. */
  readonly randomSecret: (byteCount: number) => string;
  /** 32 bytes from which the keys of cursors and sealed secrets are derived. */
  readonly masterKey: Uint8Array;
}

export class World {
  readonly name: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: IdMinter;
  readonly seed: number | undefined;
  readonly readers: ReaderRegistry;
  profile: Profile;
  calendar: VersionCalendar;
  readonly limits: WorldLimits;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  readonly outbound: GuardedClient;
  readonly randomSecret: (byteCount: number) => string;
  readonly cursors: Cursors;
  readonly sealer: Sealer;
  readonly tokens: Tokens;
  readonly #nodes: FactCache<NodeRef>;
  readonly #facts = new Map<string, FactCache<unknown>>();

  constructor(parts: WorldParts) {
    this.name = parts.name;
    this.database = parts.database;
    this.clock = parts.clock;
    this.ids = parts.ids;
    this.seed = parts.seed;
    this.readers = parts.readers;
    this.profile = parts.profile;
    this.calendar = parts.calendar;
    this.limits = parts.limits;
    this.rateLimits = parts.rateLimits;
    this.requests = parts.requests;
    this.outbound = parts.outbound;
    this.randomSecret = parts.randomSecret;
    this.cursors = new Cursors(deriveKey(parts.masterKey, "cursors"));
    this.sealer = new Sealer(deriveKey(parts.masterKey, "sealed secrets"));
    this.tokens = new Tokens(parts.database, parts.readers, this.sealer);
    this.#nodes = new FactCache(parts.database, nodeFact);
  }

  /** The world's cache for one kind of fact, made when first asked for. */
  readonly facts: FactsOf = <T>(kind: string): FactCache<T> => {
    let cache = this.#facts.get(kind);
    if (cache === undefined) {
      cache = new FactCache<unknown>(this.database, kind);
      this.#facts.set(kind, cache);
    }
    return cache as FactCache<T>;
  };

  /** Step 3: what an id is. */
  async findNode(id: NodeId): Promise<NodeRef | undefined> {
    return this.#nodes.peek(id) ?? (await this.#nodes.get(id, () => findNode(this.database.reader, id)));
  }
}
