/**
 * The queue of I1 requests. Each world runs one transaction at a time; requests that arrive meanwhile share the next one.
 *
 * **Invariant:** a response is sent only after the commit that it depends on. This includes a refusal because of names in the same batch.
 * **Invariant:** the queue is bounded; when it is full, requests of apps that have their share of it are refused with 503 and `Retry-After`.
 */
import type { World } from "#graph/worlds/world";
import { overloaded } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import { type Account, Shares } from "#kernel/shares";
import type { Transaction } from "#storage/database";
import { ensureRetention } from "../app-events.jobs.ts";
import { logIndexOf } from "../dedup-index/log-index.ts";
import { type Outcome, storeBatch } from "./batch.ts";
import type { KnownNames } from "./name-quota.ts";
import { eventNameFact } from "./names.store.ts";
import type { Report } from "./report.ts";

/** Of one transaction: at some 5 µs each it blocks SQLite's writer and the event loop for 25 ms. */
const BATCH_EVENTS_MAX = 5_000;
/**
 * Some 50 MB. The HTTP limit on bodies in progress (`requestBytesMax` of src/http/limits.ts) is reached earlier unless events are
 * shorter than 21 bytes, so most requests are refused there, before they are read.
 */
const WAITING_EVENTS_MAX = 100_000;
const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  readonly report: Report;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Intake {
  readonly #world: World;
  readonly #names: KnownNames;
  #waiting: Waiting[] = [];
  readonly #shares = new Shares({ count: Number.POSITIVE_INFINITY, size: WAITING_EVENTS_MAX });
  #isWriting = false;
  #isRetentionScheduled = false;

  constructor(world: World) {
    this.#world = world;
    this.#names = world.facts(eventNameFact);
  }

  /** Called before a request's events are parsed, so that a refusal costs little. Throws `overloaded`. */
  requireCapacity(app: NodeId): void {
    if (this.#shares.lacks(this.#accountOf(app), 1) !== undefined) throw overloaded(RETRY_AFTER_SECONDS);
  }

  #accountOf(app: NodeId): Account {
    return this.#shares.accountOf(app, "");
  }

  /** Resolves when the request is durable or finally refused. */
  submit(report: Report): Promise<Outcome> {
    this.requireCapacity(report.app);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ report, resolve, reject });
      this.#shares.hold(this.#accountOf(report.app), sizeOf(report));
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      let batch: Waiting[] | undefined;
      try {
        const outcomes = await this.#world.database.write((tx) => {
          // Taken when the transaction begins, so the batch includes requests that arrived while it waited. A retry uses the same batch.
          batch ??= this.#take();
          const reports = batch.map(({ report }) => report);
          return this.#store(tx, reports);
        });
        for (const [at, { resolve }] of (batch ?? []).entries()) resolve(outcomes[at] as Outcome);
      } catch (error) {
        for (const { reject } of batch ?? this.#take()) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #store(tx: Transaction, reports: readonly Report[]): Promise<Outcome[]> {
    if (!this.#isRetentionScheduled) {
      await ensureRetention(tx, this.#world);
      tx.afterCommit(() => {
        this.#isRetentionScheduled = true;
      });
    }
    return storeBatch(tx, reports, logIndexOf(this.#world), this.#names);
  }

  #take(): Waiting[] {
    let events = 0;
    let count = 0;
    while (count < this.#waiting.length && events < BATCH_EVENTS_MAX) events += sizeOf((this.#waiting[count++] as Waiting).report);
    const taken = this.#waiting.splice(0, count);
    for (const { report } of taken) this.#shares.release(this.#accountOf(report.app), sizeOf(report));
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
