/**
 * A world is one isolated platform with its own store, clock, ids, caches, limits and request log. Nothing of it is global, so one process can
 * have many.
 */
import type { FactsOf } from "#auth/app-facts";
import type { NodeRef } from "#auth/token";
import { Tokens } from "#auth/tokens";
import type { JobKind } from "#jobs/job-kind";
import { Jobs } from "#jobs/jobs";
import { WorkLoop } from "#jobs/work-loop";
import type { Clock } from "#kernel/clock";
import type { IdMinter, NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { GuardedClient } from "#outbound/client";
import type { Database, Reader } from "#storage/database";
import { FactCache } from "#storage/facts";
import { deriveKey, type KeyRing, Sealer } from "#storage/sealing";
import { webhookJobs } from "#webhooks/callbacks/health-jobs";
import type { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import type { WebhookObserver } from "#webhooks/observer";
import { Webhooks } from "#webhooks/webhooks";
import { Cursors } from "../response/cursors.ts";
import type { VersionCalendar } from "../versions/calendar.ts";
import type { WorldClock } from "./clock.ts";
import type { Faults } from "./fault-injection.ts";
import { DEFAULT_WORLD } from "./hosting/worlds.store.ts";
import { findNode, nodeFact } from "./nodes.store.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RequestLog } from "./request-log.ts";

export type Profile = "strict" | "clients";

/** The operator's options for features, by name (`contract/feature.ts`). */
export type WorldSettings = Readonly<Record<string, number>>;

/** Reports what happens in the background, to the log and the metrics. */
export interface WorkObserver extends WebhookObserver {
  /** A job threw and runs again. */
  jobFailed(kind: string, key: string, error: unknown): void;
  /** The loop itself failed, e.g. because the database is unreachable, and tries again. */
  workFailed(error: unknown): void;
}

export interface WorldParts {
  readonly name: string;
  readonly database: Database;
  readonly clock: WorldClock;
  readonly ids: IdMinter;
  /** `--seed`, for token values. */
  readonly seed: number | undefined;
  readonly ports: PortRegistry;
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  readonly settings: WorldSettings;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  readonly faults: Faults;
  /** The only way out (D-64). */
  readonly outbound: GuardedClient;
  readonly webhookFields: FieldCatalogue;
  readonly jobKinds: readonly JobKind<World>[];
  readonly observer: WorkObserver;
  readonly realNowMs: () => number;
  /** Webhook deliveries per second and callback. 0: no limit. */
  readonly deliveriesPerSecondMax: number;
  /** Random text, for secrets that the world makes itself. */
  readonly randomSecret: (byteCount: number) => string;
  readonly collectGarbage: () => void;
  /** The folder of the recordings. Undefined if there are none. */
  readonly recordings: string | undefined;
  /** The keys of cursors and sealed secrets are derived from these. */
  readonly keys: KeyRing;
}

/** How encoders connect. */
export interface Streaming {
  /** The ingest's port on the host of the request. Undefined if a media server of the operator takes the streams. */
  readonly rtmpPort: number | undefined;
  /** With TLS. */
  readonly rtmpsPort: number | undefined;
  /** The media server's address, without the slash and the key at its end. */
  readonly rtmpUrl: string | undefined;
  /** Resolves when encoders can connect, or after some seconds. Undefined if they can, or another process listens. */
  readonly listening?: Promise<void>;
  /** D-119: sends the test clip with a stream key. Undefined if another program takes the streams. Rejects with the reason of a refusal. */
  readonly playClip?: (key: string) => Promise<TestFeed>;
  /** Of encoders to this process's ingest; undefined: it has none, or has not counted yet. `turned_away` counts since the ingest process started. */
  connections?: { readonly open: number; readonly without_key: number; readonly turned_away: number };
}

/** The test encoder, while it sends. */
export interface TestFeed {
  /** Resolves when its connection is closed, with the reason. */
  readonly ended: Promise<string>;
  stop(): void;
}

/** The store's copy of an id, because an id that is a slice of a request would keep the request's text in memory. */
const idOf = ({ id }: NodeRef): string => id;

export class World {
  readonly name: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: IdMinter;
  readonly seed: number | undefined;
  readonly ports: PortRegistry;
  profile: Profile;
  calendar: VersionCalendar;
  readonly settings: WorldSettings;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  /** Called before each part of a request that may hold the event loop. */
  readonly workBegins: WorkObserver["workBegins"];
  readonly faults: Faults;
  readonly outbound: GuardedClient;
  readonly randomSecret: (byteCount: number) => string;
  /** The machine's time, which a world's clock need not follow. */
  readonly realNowMs: () => number;
  /** How encoders connect to this world. Undefined if they cannot. */
  streaming: Streaming | undefined;
  readonly recordings: string | undefined;
  /** For work that reads far more text than it keeps, because the runtime lets garbage grow to several times the used memory. */
  readonly collectGarbage: () => void;
  /** Background work, which runs after it is started. */
  readonly work: WorkLoop;
  readonly jobs: Jobs<World>;
  readonly webhooks: Webhooks;
  readonly keys: KeyRing;
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
    this.ports = parts.ports;
    this.profile = parts.profile;
    this.calendar = parts.calendar;
    this.settings = parts.settings;
    this.rateLimits = parts.rateLimits;
    this.requests = parts.requests;
    this.faults = parts.faults;
    this.outbound = parts.outbound;
    this.randomSecret = parts.randomSecret;
    this.realNowMs = parts.realNowMs;
    this.recordings = parts.recordings;
    this.collectGarbage = parts.collectGarbage;
    this.keys = parts.keys;
    this.cursors = new Cursors(...this.#derived(this.#cursorPurpose));
    this.sealer = new Sealer(...this.#derived("sealed secrets"));
    this.tokens = new Tokens(parts.database, parts.ports, this.sealer);
    this.#nodes = new FactCache(parts.database, nodeFact);
    const { database, clock, realNowMs, observer } = parts;
    this.workBegins = observer.workBegins;
    const storedNowMs = (reader: Reader) => clock.storedNowMs(reader);
    this.work = new WorkLoop({ database, clock, storedNowMs, realNowMs, onError: (error) => observer.workFailed(error) });
    this.jobs = new Jobs<World>({
      ...{ database, loop: this.work, kinds: [...webhookJobs, ...parts.jobKinds], world: () => this },
      onStart: (kind, key) => observer.workBegins(`job ${kind}`, key),
      onFailure: (kind, key, error) => observer.jobFailed(kind, key, error),
    });
    this.webhooks = new Webhooks({
      ...{ database, clock, realNowMs, observer, ids: parts.ids, ports: parts.ports, sealer: this.sealer, client: parts.outbound },
      ...{ loop: this.work, jobs: this.jobs, fields: parts.webhookFields, faults: parts.faults, perSecondMax: parts.deliveriesPerSecondMax },
      profile: () => this.profile,
    });
  }

  /** Applies changed `keys`. The current one seals and signs from now on. */
  useKeys(): void {
    this.cursors.use(...this.#derived(this.#cursorPurpose));
    this.sealer.use(...this.#derived("sealed secrets"));
  }

  /** Worlds have different keys, so a cursor works only in its own world. */
  get #cursorPurpose(): string {
    return this.name === DEFAULT_WORLD ? "cursors" : `cursors of ${this.name}`;
  }

  #derived(purpose: string): [current: Uint8Array, previous: Uint8Array[]] {
    const { current, previous } = this.keys;
    return [deriveKey(current, purpose), previous.map(({ key }) => deriveKey(key, purpose))];
  }

  /** Background work ends, then the store is closed. */
  async close(): Promise<void> {
    await this.work.stop();
    await this.database.close();
  }

  /** Closes a world whose state is replaced. Running work is not waited for, and its results are dropped. */
  async abandon(): Promise<void> {
    await this.work.abandon();
    await this.database.close();
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

  findNode(id: NodeId): Promise<NodeRef | undefined> {
    return this.#nodes.get(id, () => findNode(this.database.reader, id), idOf);
  }
}
