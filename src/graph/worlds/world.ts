/**
 * A world is one isolated platform with its own store, clock, ids, caches, limits and request log. Worlds do not use global variables, so one process
 * can have many worlds.
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
import type { Tracing } from "#kernel/tracing/tracing";
import type { Awaitable } from "#kernel/turns";
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
import type { UnservedNames } from "./unserved.ts";

/**
 * The profile, which decides how requests are read. `strict` accepts only what the interface describes; `clients` also accepts what existing client
 * libraries send.
 */
export type Profile = "strict" | "clients";

/** The operator's values of the features' options, by the name of the option (`contract/feature.ts`). */
export type WorldSettings = Readonly<Record<string, number>>;

/** Receives reports about background work, for the log and the metrics. */
export interface WorkObserver extends WebhookObserver {
  /** Called if a background job threw an error. The failed job runs again later. */
  jobFailed(kind: string, key: string, error: unknown): void;
  /** Called if the work loop itself failed, e.g. because the database is unreachable. The work loop tries again after an error. */
  workFailed(error: unknown): void;
}

export interface WorldParts {
  readonly name: string;
  readonly database: Database;
  readonly clock: WorldClock;
  readonly ids: IdMinter;
  /** The value of `--seed`, from which the values of new tokens are derived. */
  readonly seed: number | undefined;
  readonly ports: PortRegistry;
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  readonly settings: WorldSettings;
  readonly rateLimits: RateLimits;
  readonly requests: RequestLog;
  readonly unserved: UnservedNames | undefined;
  readonly faults: Faults;
  /** The client for all requests of the world to other servers (D-64). */
  readonly outbound: GuardedClient;
  readonly webhookFields: FieldCatalogue;
  readonly jobKinds: readonly JobKind<World>[];
  readonly observer: WorkObserver;
  readonly realNowMs: () => number;
  /** The greatest number of webhook deliveries per second to each callback. 0 means no limit. */
  readonly deliveriesPerSecondMax: number;
  /** Whether delivered webhooks are logged (D-424). */
  readonly hasWebhookLog: boolean;
  /** Makes random text, for secrets that the world itself creates. */
  readonly randomSecret: (byteCount: number) => string;
  readonly collectGarbage: () => void;
  /** The folder for recordings of live videos. Undefined if the server does not store recordings of live videos. */
  readonly recordings: string | undefined;
  /** The server's keys, from which the keys of cursors and sealed secrets are derived. */
  readonly keys: KeyRing;
  /** Absent if the server does not record traces. */
  readonly tracing?: Tracing | undefined;
}

/** The addresses to which encoders of live videos connect. */
export interface Streaming {
  /** The port of the RTMP ingest, on the host of the request. Undefined if the operator's own media server receives the streams. */
  readonly rtmpPort: number | undefined;
  /** The port of the RTMP ingest over TLS. */
  readonly rtmpsPort: number | undefined;
  /** The address of the operator's media server, without a slash or a stream key at its end. */
  readonly rtmpUrl: string | undefined;
  /**
   * Resolves when encoders can connect, or after some seconds. Undefined if encoders can connect already, or if another process accepts their
   * connections.
   */
  readonly listening?: Promise<void>;
  /**
   * D-119: sends the test clip to the ingest with a stream key. Undefined if another program receives the streams. Rejects with the reason if the
   * ingest refuses the stream.
   */
  readonly playClip?: (key: string) => Promise<TestFeed>;
  /**
   * The number of encoders' connections to this process's ingest. Undefined if this process has no ingest, or has not counted the encoders'
   * connections yet. `turned_away` is the number of refused connections since the ingest process started.
   */
  connections?: { readonly open: number; readonly without_key: number; readonly turned_away: number };
}

/** The test encoder, which is sending the test clip. */
export interface TestFeed {
  /** Resolves when the encoder's connection is closed. The value of the promise is the reason why the connection was closed. */
  readonly ended: Promise<string>;
  stop(): void;
}

/**
 * Returns the node's id in the string that came from the database. The text of an id that was cut from a request would keep the text of the whole
 * request in memory.
 */
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
  /** D-394: the names that programs asked for and that Plaza does not have. The list of unserved names is undefined outside the sandbox. */
  readonly unserved: UnservedNames | undefined;
  /** Called before each step of a request that may block the event loop. */
  readonly workBegins: WorkObserver["workBegins"];
  readonly faults: Faults;
  readonly outbound: GuardedClient;
  readonly randomSecret: (byteCount: number) => string;
  /** The machine's time, which may differ from the world's clock. */
  readonly realNowMs: () => number;
  /** The addresses to which encoders of live videos connect in this world. Undefined if encoders cannot connect. */
  streaming: Streaming | undefined;
  readonly recordings: string | undefined;
  /**
   * Collects garbage. Called after work that reads much more text than it stores, because the runtime lets garbage grow to several times the used
   * memory.
   */
  readonly collectGarbage: () => void;
  /** The loop that runs the world's background work. The work loop does nothing until it is started. */
  readonly work: WorkLoop;
  readonly jobs: Jobs<World>;
  readonly webhooks: Webhooks;
  readonly keys: KeyRing;
  readonly cursors: Cursors;
  readonly sealer: Sealer;
  readonly tokens: Tokens;
  readonly #clock: WorldClock;
  readonly #workFailed: WorkObserver["workFailed"];
  readonly #nodes: FactCache<NodeRef>;
  readonly #ends: (() => void)[] = [];
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
    this.unserved = parts.unserved;
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
    const { database, clock, realNowMs, observer, tracing } = parts;
    this.#clock = clock;
    this.#workFailed = (error) => observer.workFailed(error);
    this.workBegins = observer.workBegins;
    const storedNowMs = (reader: Reader) => clock.storedNowMs(reader);
    this.work = new WorkLoop({ database, clock, storedNowMs, realNowMs, onError: (error) => observer.workFailed(error) });
    this.jobs = new Jobs<World>({
      ...{ database, loop: this.work, kinds: [...webhookJobs, ...parts.jobKinds], world: () => this, tracing },
      onStart: (kind, key) => observer.workBegins(`job ${kind}`, key),
      onFailure: (kind, key, error) => observer.jobFailed(kind, key, error),
    });
    this.webhooks = new Webhooks({
      ...{ database, clock, realNowMs, observer, ids: parts.ids, ports: parts.ports, sealer: this.sealer, client: parts.outbound },
      ...{ loop: this.work, jobs: this.jobs, fields: parts.webhookFields, faults: parts.faults, perSecondMax: parts.deliveriesPerSecondMax },
      hasLog: parts.hasWebhookLog,
      tracing,
      profile: () => this.profile,
    });
  }

  /** Uses the changed `keys`: from this call on, secrets are sealed and cursors are signed with the current key. */
  useKeys(): void {
    this.cursors.use(...this.#derived(this.#cursorPurpose));
    this.sealer.use(...this.#derived("sealed secrets"));
  }

  /**
   * The name from which the world's key of cursors is derived (its purpose). Each world has a different purpose and so a different key, so a cursor
   * works only in the world that made it.
   */
  get #cursorPurpose(): string {
    return this.name === DEFAULT_WORLD ? "cursors" : `cursors of ${this.name}`;
  }

  #derived(purpose: string): [current: Uint8Array, previous: Uint8Array[]] {
    const { current, previous } = this.keys;
    return [deriveKey(current, purpose), previous.map(({ key }) => deriveKey(key, purpose))];
  }

  /** Moves the world's clock forward for a running request. The request does not wait for the background work that becomes due. */
  async moveClock(worldMs: number): Promise<void> {
    await this.#clock.set(worldMs, this.#clock.isFrozen);
    this.work.runDue().catch(this.#workFailed);
  }

  /** Stops the world's background work, and then closes its database. */
  async close(): Promise<void> {
    await this.work.stop();
    await this.#closeDatabase();
  }

  /** Closes a world whose data the server is replacing. Running background work is not awaited, and its results are dropped. */
  async abandon(): Promise<void> {
    await this.work.abandon();
    await this.#closeDatabase();
  }

  /** Registers the function `end`, which is called when the world is closed. */
  onClosed(end: () => void): void {
    this.#ends.push(end);
  }

  async #closeDatabase(): Promise<void> {
    for (const end of this.#ends) end();
    await this.database.close();
  }

  /** Returns the world's cache for one type of cached fact. Each cache of the world is created when it is first requested. */
  readonly facts: FactsOf = <T>(kind: string): FactCache<T> => {
    let cache = this.#facts.get(kind);
    if (cache === undefined) {
      cache = new FactCache<unknown>(this.database, kind);
      this.#facts.set(kind, cache);
    }
    return cache as FactCache<T>;
  };

  /** Returns the node if the world's cache has it, and otherwise a promise of it. */
  findNode(id: NodeId): Awaitable<NodeRef | undefined> {
    return this.#nodes.get(id, this.#loadNode, idOf);
  }

  readonly #loadNode = (id: NodeId) => findNode(this.database.reader, id);
}
