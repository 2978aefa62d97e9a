/**
 * Where calls of I1 wait for their transaction: one at a time for each world, and whatever arrives meanwhile shares the next.
 *
 * **Invariant:** a request is answered only after the commit that holds its events, its refusal by others' names too.
 * **Invariant:** what waits is bounded: beyond it callers are told to come back (503, Retry-After).
 */
import type { World } from "#graph/worlds/world";
import { overloaded } from "#kernel/errors";
import type { Transaction } from "#storage/database";
import { ensureRetention } from "../app-events.jobs.ts";
import { logIndexOf } from "../dedup-index/log-index.ts";
import { type Outcome, storeBatch } from "./batch.ts";
import type { KnownNames } from "./name-quota.ts";
import { eventNameFact } from "./names.store.ts";
import type { Report } from "./report.ts";

/** In one transaction: at some 5 µs each, SQLite's writer and the event loop are held for 25 ms. */
const BATCH_EVENTS_MAX = 5_000;
/**
 * More than the bodies of running requests hold (`callBytesMax` of src/http/limits.ts) unless events are shorter than 21 bytes: mostly
 * callers are told to come back there, before anything is read. Some 50 MB.
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
  #waitingEvents = 0;
  #isWriting = false;
  #isRetentionSure = false;

  constructor(world: World) {
    this.#world = world;
    this.#names = world.facts(eventNameFact);
  }

  /** Asked before a request's events are read, so that refusing costs little. Throws `overloaded`. */
  requireFeature(): void {
    if (this.#waitingEvents >= WAITING_EVENTS_MAX) throw overloaded(RETRY_AFTER_SECONDS);
  }

  /** Resolves when the request is durable, or refused for good. */
  submit(report: Report): Promise<Outcome> {
    this.requireFeature();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ report, resolve, reject });
      this.#waitingEvents += report.events.length + 1;
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      let batch: Waiting[] | undefined;
      try {
        const outcomes = await this.#world.database.write((tx) => {
          // When the transaction begins, so that what came while it waited for its turn is in it; a second attempt is the same.
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
    if (!this.#isRetentionSure) {
      await ensureRetention(tx, this.#world);
      tx.afterCommit(() => {
        this.#isRetentionSure = true;
      });
    }
    return storeBatch(tx, reports, logIndexOf(this.#world), this.#names);
  }

  #take(): Waiting[] {
    let events = 0;
    let count = 0;
    while (count < this.#waiting.length && events < BATCH_EVENTS_MAX) events += (this.#waiting[count++] as Waiting).report.events.length + 1;
    const taken = this.#waiting.splice(0, count);
    this.#waitingEvents -= events;
    return taken;
  }
}

const intakes = new WeakMap<World, Intake>();

export function intakeOf(world: World): Intake {
  let intake = intakes.get(world);
  if (intake === undefined) {
    intake = new Intake(world);
    intakes.set(world, intake);
  }
  return intake;
}
