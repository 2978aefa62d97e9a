/**
 * The index of the log on SQLite, where one process writes. New entries wait in memory and are written as a *run*: pages that are
 * appended and never changed. A B-tree of random keys would write a 4 KiB page for each event (measured: 25 to 35 µs an event
 * among 5 million rows; a run costs 0.1 µs an entry, however much is stored). A filter in memory says what a run may contain.
 *
 * **Invariant:** a request above the newest run's `last_request` is in memory as soon as `load` has read the end of the log, so
 * nothing is lost when the process is killed.
 */

import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Database, Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { hasRequestBetween } from "../log/log.store.ts";
import { insertRows, rowStatement } from "../log/rows.store.ts";
import {
  deviceFingerprint,
  type FoundRequests,
  type LogIndex,
  logIndexFact,
  type NewEntries,
  nearest,
  TableIndex,
  tieFingerprint,
  type WantedKey,
  type WantedRequests,
} from "./entries.store.ts";
import { Filter, Probe } from "./fingerprints.ts";
import { addPending, loadPending, nothingPending, type Pending, pendingRequests, sizeOf } from "./pending-entries.ts";
import {
  type Cover,
  collectInPage,
  coverRun,
  forgetFilters,
  IN_USE_SECONDS,
  overlap,
  pageBitsFor,
  pageOf,
  pagesOf,
  type Run,
  spanOf,
  uncovered,
} from "./runs.ts";

/** 2 to 4 MB in open-addressed tables; a run of this size is written in some 20 ms. */
const RUN_ENTRIES_MIN = 65_536;
/** A new run has an eighth of the entries of the runs in use, so 5 million entries are some 30 runs and little memory. */
const RUN_PART = 8;
/** Writing so many blocks other writes for some 80 ms, and reading them after a restart takes some 0.3 s. */
const RUN_ENTRIES_MAX = 262_144;
/** Filters of 20 million keys. Beyond this, filters of old runs are dropped and read again when they are searched. */
const FILTER_BYTES_MAX = 64 * 1024 * 1024;

interface AppIndex {
  pending: Pending;
  runs: readonly Run[];
  covers: readonly Cover[];
  uncovered: readonly Run[];
  readonly ready: Promise<void>;
}

interface RunRow extends Row {
  last_request: number;
  entries: number;
  page_bits: number;
  first_time: number;
  last_time: number;
}

const pageInsertion = rowStatement(4, "ON CONFLICT DO NOTHING");

export class RunIndex implements LogIndex {
  readonly #apps = new Map<NodeId, AppIndex>();
  readonly #database: Database;
  readonly #runEntriesMin: number;

  constructor(database: Database, runEntriesMin = RUN_ENTRIES_MIN) {
    this.#database = database;
    this.#runEntriesMin = runEntriesMin;
    // The world's state was replaced, or the app was removed, so what is known of its log is void.
    database.onInvalidate((kind, key) => {
      if (kind === undefined) this.#apps.clear();
      else if (kind === logIndexFact) this.#apps.delete(key as NodeId);
    });
  }

  async findKeys(reader: Reader, app: NodeId, wanted: readonly WantedKey[], within: number): Promise<FoundRequests> {
    const index = this.#indexOf(app);
    await index.ready;
    const { keys } = index.pending;
    const span = spanOf(wanted, within);
    const covers = index.covers.filter(({ times }) => overlap(times, span));
    const single = index.uncovered.filter(({ times }) => overlap(times, span));
    const found = new Map<number, number[]>();
    const probe = new Probe();
    const requests: number[] = [];
    for (const { fingerprint } of wanted) {
      keys.collect(fingerprint, requests);
      probe.set(fingerprint);
      for (const cover of covers) if (cover.filter.mayHold(probe)) await this.#collect(reader, app, index, cover.runs, fingerprint, requests);
      if (single.length > 0) await this.#collect(reader, app, index, single, fingerprint, requests);
      if (requests.length === 0) continue;
      found.set(fingerprint, [...(found.get(fingerprint) ?? []), ...requests]);
      requests.length = 0;
    }
    return found;
  }

  async findRequests(reader: Reader, app: NodeId, wanted: WantedRequests): Promise<number[]> {
    const index = this.#indexOf(app);
    await index.ready;
    const { ids, kind, isBackward, from, limit } = wanted;
    const fingerprints = ids.map((id) => deviceFingerprint(id, kind));
    const { runs, pending } = index;
    const found: number[] = isBackward ? [] : pendingRequests(pending, fingerprints, wanted);
    // Each run holds the requests after those of the run before it, so the nearest ones are in the first runs that have any.
    for (let i = 0; i < runs.length && found.length < limit; i++) {
      const at = isBackward ? i : runs.length - 1 - i;
      const run = runs[at] as Run;
      if (isBackward ? run.last_request <= from : (runs[at - 1]?.last_request ?? 0) + 1 >= from) continue;
      const requests: number[] = [];
      for (const fingerprint of fingerprints) await collectInRun(reader, app, run, fingerprint, requests);
      found.push(...nearest(requests, { ...wanted, limit: limit - found.length }));
    }
    if (isBackward && found.length < limit) found.push(...pendingRequests(pending, fingerprints, { ...wanted, limit: limit - found.length }));
    return found;
  }

  async findTies(reader: Reader, app: NodeId, identities: readonly string[]): Promise<number[]> {
    const index = this.#indexOf(app);
    await index.ready;
    const requests: number[] = [];
    for (const fingerprint of identities.map(tieFingerprint)) {
      index.pending.ties.requests.collect(fingerprint, requests);
      for (const run of index.runs) await collectInRun(reader, app, run, fingerprint, requests);
    }
    return [...new Set(requests)];
  }

  async add(tx: Transaction, app: NodeId, entries: NewEntries): Promise<void> {
    const index = this.#indexOf(app);
    await index.ready;
    if (sizeOf(index.pending) >= this.#runSize(index)) await this.#writeRun(tx, app, index);
    tx.afterCommit(() => {
      // Read from the map again, because the world's state may have been replaced meanwhile.
      const pending = this.#apps.get(app)?.pending;
      if (pending !== undefined) addPending(pending, entries);
    });
  }

  async forgetUpTo(tx: Transaction, app: NodeId, request: number): Promise<void> {
    const runs = await tx.all<{ last_request: number }>(
      sql`SELECT r.last_request FROM app_event_runs r WHERE r.app = ${app} AND r.last_request <= ${request} ORDER BY r.last_request`,
    );
    const forgotten = new Set<number>();
    let after = 0;
    for (const { last_request } of runs) {
      if (!(await hasRequestBetween(tx, app, after, last_request))) forgotten.add(last_request);
      after = last_request;
    }
    for (const last_request of forgotten) {
      await tx.run(sql`DELETE FROM app_event_run_pages WHERE app = ${app} AND last_request = ${last_request}`);
      await tx.run(sql`DELETE FROM app_event_runs WHERE app = ${app} AND last_request = ${last_request}`);
    }
    tx.afterCommit(() => {
      const index = this.#apps.get(app);
      if (index === undefined) return;
      index.runs = index.runs.filter((run) => !forgotten.has(run.last_request));
      index.covers = index.covers.filter(({ runs }) => runs.some((run) => index.runs.includes(run)));
      index.uncovered = uncovered(index.runs, index.covers);
    });
  }

  async #collect(reader: Reader, app: NodeId, index: AppIndex, runs: readonly Run[], fingerprint: number, requests: number[]): Promise<void> {
    const probe = new Probe().set(fingerprint);
    for (const run of runs) {
      const filter = run.filter ?? (await this.#readFilter(reader, app, index, run));
      if (filter.mayHold(probe)) await collectInRun(reader, app, run, fingerprint, requests);
    }
  }

  #runSize({ runs, pending }: AppIndex): number {
    const inUse = runs.filter(({ times }) => times.last > pending.times.last - IN_USE_SECONDS);
    const part = inUse.reduce((sum, { entries }) => sum + entries, 0) / RUN_PART;
    return Math.min(RUN_ENTRIES_MAX, Math.max(this.#runEntriesMin, part));
  }

  #indexOf(app: NodeId): AppIndex {
    let index = this.#apps.get(app);
    if (index === undefined) {
      const made: { -readonly [Key in keyof AppIndex]: AppIndex[Key] } = {
        pending: nothingPending(0, []),
        runs: [],
        covers: [],
        uncovered: [],
        ready: Promise.resolve(),
      };
      // Set before it is loaded, so that entries committed meanwhile wait there.
      this.#apps.set(app, made);
      // By the reader, which sees what is committed: what a running transaction has written is added when it commits.
      made.ready = load(this.#database.reader, app, made).catch((error) => {
        this.#apps.delete(app);
        throw error;
      });
      index = made;
    }
    return index;
  }

  /** Writes the pending entries as a run. They stay in memory until the run is durable. */
  async #writeRun(tx: Transaction, app: NodeId, index: AppIndex): Promise<void> {
    const { keys, devices, ties, times, lastRequest: last_request } = index.pending;
    const entries = sizeOf(index.pending);
    const page_bits = pageBitsFor(entries);
    const filter = Filter.of(keys.size);
    const probe = new Probe();
    keys.visit((fingerprint) => filter.add(probe.set(fingerprint)));
    await tx.run(sql`
      INSERT INTO app_event_runs (app, last_request, entries, page_bits, first_time, last_time, filter)
      VALUES (${app}, ${last_request}, ${entries}, ${page_bits}, ${times.first}, ${times.last}, ${filter.bytes})
      ON CONFLICT DO NOTHING`);
    const pages = pagesOf([keys, devices, ties.requests], page_bits).flatMap((values, page) => [
      app,
      last_request,
      page,
      new Uint8Array(values.buffer),
    ]);
    await insertRows(tx, sql`INSERT INTO app_event_run_pages (app, last_request, page, entries)`, pageInsertion, pages);
    tx.afterCommit(() => {
      index.pending = nothingPending(last_request);
      const run: Run = { last_request, entries, page_bits, times, filter };
      index.runs = [...index.runs, run];
      index.covers = coverRun(index.covers, run, keys);
      index.uncovered = uncovered(index.runs, index.covers);
      forgetFilters(index.runs, FILTER_BYTES_MAX);
    });
  }

  async #readFilter(reader: Reader, app: NodeId, index: AppIndex, run: Run): Promise<Filter> {
    const row = await reader.get<{ filter: Uint8Array }>(
      sql`SELECT r.filter FROM app_event_runs r WHERE r.app = ${app} AND r.last_request = ${run.last_request}`,
    );
    // The run was deleted a moment ago.
    if (row === undefined) return Filter.of(0);
    run.filter = Filter.fromBytes(row.filter);
    forgetFilters(index.runs, FILTER_BYTES_MAX, run);
    return run.filter;
  }
}

async function collectInRun(reader: Reader, app: NodeId, run: Run, fingerprint: number, requests: number[]): Promise<void> {
  const page = pageOf(fingerprint, run.page_bits);
  const row = await reader.get<{ entries: Uint8Array }>(
    sql`SELECT p.entries FROM app_event_run_pages p WHERE p.app = ${app} AND p.last_request = ${run.last_request} AND p.page = ${page}`,
  );
  if (row !== undefined) collectInPage(row.entries, fingerprint, requests);
}

/** Loads the runs, and the end of the log that is in no run yet. */
async function load(reader: Reader, app: NodeId, index: AppIndex): Promise<void> {
  const runs = await reader.all<RunRow>(
    sql`SELECT r.last_request, r.entries, r.page_bits, r.first_time, r.last_time FROM app_event_runs r WHERE r.app = ${app} ORDER BY r.last_request`,
  );
  index.uncovered = runs.map(({ first_time, last_time, ...run }) => ({
    ...run,
    times: { first: first_time, last: last_time },
    filter: undefined,
  }));
  index.runs = index.uncovered;
  await loadPending(reader, app, runs[runs.length - 1]?.last_request ?? 0, index.pending);
}

const indexes = new WeakMap<World, LogIndex>();

/** A world's index of its log, in the form that is fastest on its database (README.md: The index of the log). */
export function logIndexOf(world: World): LogIndex {
  let index = indexes.get(world);
  if (index === undefined) {
    index = world.database.dialect === "sqlite" ? new RunIndex(world.database) : new TableIndex();
    indexes.set(world, index);
  }
  return index;
}
