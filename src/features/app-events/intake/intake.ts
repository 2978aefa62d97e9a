/**
 * The queues of requests that report app events (I1), one queue for each app. An app has one transaction at a time; all requests that arrive during a
 * transaction are stored in the next transaction. On SQLite, the transactions of several apps are committed together.
 *
 * **Invariant:** the response to a request is sent only after the commit of the request's batch, even if the request is refused because of its event
 * names. **Invariant:** the number of waiting events is limited. When the limit is reached, an app that already has its fair share of the waiting
 * events gets 503 with `Retry-After` for further requests.
 */
import { findSetting, saveSetting } from "#graph/worlds/settings.store";
import type { World } from "#graph/worlds/world";
import { overloaded } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import { type Account, Shares } from "#kernel/shares";
import { fewAtOnce } from "#kernel/turns";
import type { Transaction } from "#storage/database";
import { ensureRetention } from "../app-events.jobs.ts";
import { type FingerprintKey, fingerprintKeyOf, KEY_BYTES } from "../log/fingerprints.ts";
import { type Outcome, storeBatch } from "./batch.ts";
import type { Report } from "./parse-events.ts";

/**
 * The greatest number of events in one transaction. Storing an event takes some 5 µs, so 5,000 events block SQLite's writer and the event loop for 25
 * ms.
 */
const BATCH_EVENTS_MAX = 5_000;
/**
 * The greatest number of waiting events, which take some 50 MB of memory. The HTTP limit for the bodies of running requests (`requestBytesMax` of
 * src/http/limits.ts) is usually reached before this limit, unless events are shorter than 21 bytes. So an overloaded server refuses most requests
 * before it reads their request bodies.
 */
const WAITING_EVENTS_MAX = 100_000;
const RETRY_AFTER_SECONDS = 1;
const KEY_SETTING = "app_event_fingerprint_key";
/**
 * The greatest number of transactions that the intake runs at the same time on PostgreSQL. Each transaction needs a database connection, and 4
 * connections are half of a process's connections.
 */
const WRITERS_MAX = 4;
/**
 * On PostgreSQL, four requests of a batch get their responses at the same time, while the next batch is written. If at most four responses are sent
 * at the same time, Plaza serves a third more requests per second than without a limit.
 */
const RESPOND_AT_ONCE = 4;

interface Waiting {
  readonly report: Report;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Intake {
  readonly #world: World;
  readonly #writersMax: number;
  readonly #respondAtOnce: number;
  /** The waiting requests of each app. An app without waiting requests has no entry in this map. */
  readonly #waiting = new Map<NodeId, Waiting[]>();
  readonly #writing = new Set<NodeId>();
  /** The apps that wait to write a batch, in the order of arrival. */
  readonly #queued = new Set<NodeId>();
  readonly #shares = new Shares({ count: Number.POSITIVE_INFINITY, size: WAITING_EVENTS_MAX });
  #isRetentionScheduled = false;
  /** The secret key for the fingerprints of event keys. The fingerprint key is undefined until the process has stored its first batch. */
  #key: FingerprintKey | undefined;

  constructor(world: World) {
    this.#world = world;
    const isRemote = world.database.dialect === "postgres";
    this.#writersMax = isRemote ? WRITERS_MAX : Number.POSITIVE_INFINITY;
    this.#respondAtOnce = isRemote ? RESPOND_AT_ONCE : Number.POSITIVE_INFINITY;
  }

  /**
   * Throws `overloaded` if the app has used up its share of the waiting events. The handler calls this function before it parses the events of a
   * request, so that a refusal costs little.
   */
  requireCapacity(app: NodeId): void {
    if (this.#shares.lacks(this.#accountOf(app), 1) !== undefined) throw overloaded(RETRY_AFTER_SECONDS);
  }

  #accountOf(app: NodeId): Account {
    return this.#shares.accountOf(app, "");
  }

  /** Adds a request to its app's queue. The promise resolves when the request has been stored durably or refused. */
  submit(report: Report): Promise<Outcome> {
    this.requireCapacity(report.app);
    return new Promise((resolve, reject) => {
      const ofApp = this.#waiting.get(report.app);
      if (ofApp === undefined) this.#waiting.set(report.app, [{ report, resolve, reject }]);
      else ofApp.push({ report, resolve, reject });
      this.#shares.hold(this.#accountOf(report.app), sizeOf(report));
      this.#queue(report.app);
    });
  }

  #queue(app: NodeId): void {
    if (!this.#writing.has(app)) this.#queued.add(app);
    this.#writeQueued();
  }

  #writeQueued(): void {
    for (const app of this.#queued) {
      if (this.#writing.size >= this.#writersMax) return;
      this.#queued.delete(app);
      this.#writing.add(app);
      void this.#write(app).finally(() => {
        this.#writing.delete(app);
        // Requests that arrived during the app's transaction wait until the other apps have written a batch.
        if (this.#waiting.has(app)) this.#queued.add(app);
        this.#writeQueued();
      });
    }
  }

  /** Stores one batch of the app's requests. The returned promise never rejects. */
  async #write(app: NodeId): Promise<void> {
    let batch: Waiting[] | undefined;
    try {
      // If the database runs a transaction again, the transaction uses the batch of its first run.
      const take = (): Report[] => {
        batch ??= this.#take(app);
        return batch.map(({ report }) => report);
      };
      const outcomes = await this.#world.database.write((tx) => this.#store(tx, app, take));
      void fewAtOnce([...(batch ?? []).entries()], this.#respondAtOnce, ([at, { resolve }]) => resolve(outcomes[at] as Outcome));
    } catch (error) {
      for (const { reject } of batch ?? this.#take(app)) reject(error);
    }
  }

  async #store(tx: Transaction, app: NodeId, take: () => readonly Report[]): Promise<Outcome[]> {
    if (!this.#isRetentionScheduled) {
      await ensureRetention(tx, this.#world);
      tx.afterCommit(() => {
        this.#isRetentionScheduled = true;
      });
    }
    const key = this.#key ?? (await this.#readKey(tx));
    return storeBatch(tx, app, take, key);
  }

  /** Reads the secret key of the world's fingerprints. The fingerprint key is created when the world's first events are stored, and never changes. */
  async #readKey(tx: Transaction): Promise<FingerprintKey> {
    // The lock prevents two processes from creating different keys at the same time.
    await tx.lock("app events", KEY_SETTING);
    let secret = await findSetting(tx, KEY_SETTING);
    if (secret === undefined) {
      secret = this.#world.randomSecret(KEY_BYTES);
      await saveSetting(tx, KEY_SETTING, secret);
    }
    const key = fingerprintKeyOf(secret);
    tx.afterCommit(() => {
      this.#key = key;
    });
    return key;
  }

  #take(app: NodeId): Waiting[] {
    const waiting = this.#waiting.get(app) ?? [];
    let events = 0;
    let count = 0;
    while (count < waiting.length && events < BATCH_EVENTS_MAX) events += sizeOf((waiting[count++] as Waiting).report);
    const taken = waiting.splice(0, count);
    for (const { report } of taken) this.#shares.release(this.#accountOf(app), sizeOf(report));
    if (waiting.length === 0) this.#waiting.delete(app);
    return taken;
  }
}

const sizeOf = ({ events }: Report): number => events.length + 1;

const intakes = new WeakMap<World, Intake>();

export function intakeOf(world: World): Intake {
  let intake = intakes.get(world);
  if (intake === undefined) {
    intake = new Intake(world);
    intakes.set(world, intake);
  }
  return intake;
}
