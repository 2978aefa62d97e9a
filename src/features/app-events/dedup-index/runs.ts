/** The runs of the log's index (`runs.store.ts`) as they are known in memory (times, and filters of their keys), and the pages in which they are stored. */
import { DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";
import { joined, NO_TIMES, type TimeSpan, type WantedKey } from "./entries.store.ts";
import { Filter, lowOf, Probe } from "./fingerprints.ts";
import type { RequestTable } from "./pending-entries.ts";

/** The keys of the first cover and of the largest one (8 to 16 MB); each cover takes twice as many as the one before. */
const COVER_KEYS_MIN = 262_144;
const COVER_KEYS_MAX = 4_194_304;
/** Twice the window of D-71 in both directions: older runs are rarely searched. */
export const IN_USE_SECONDS = 4 * DEDUP_WINDOW_SECONDS;

export interface Run {
  readonly last_request: number;
  readonly entries: number;
  readonly page_bits: number;
  readonly times: TimeSpan;
  /** Of the event keys. Devices and persons have no filter, because attribution is read so rarely that it may search every run. */
  filter: Filter | undefined;
}

/**
 * One filter over the keys of several runs, in memory only. Nearly every key is new, and searching the filter of each run would
 * cost a cache miss per run (some 40 ns). Runs of an earlier process have no cover and are searched one by one.
 */
export interface Cover {
  readonly filter: Filter;
  readonly keys_max: number;
  keys: number;
  times: TimeSpan;
  runs: readonly Run[];
}

export const overlap = (one: TimeSpan, other: TimeSpan): boolean => one.first < other.last && other.first < one.last;

/** The times that are less than `within` seconds away from one of the keys; open at both ends. */
export function spanOf(wanted: readonly WantedKey[], within: number): TimeSpan {
  let span = NO_TIMES;
  for (const { time } of wanted) if (time < span.first || time > span.last) span = joined(span, { first: time, last: time });
  return { first: span.first - within, last: span.last + within };
}

/** Adds a new run to a cover, and drops covers whose runs are rarely searched any more. */
export function coverRun(covers: readonly Cover[], run: Run, keys: RequestTable): Cover[] {
  const kept = covers.filter(({ times }) => times.last > run.times.last - IN_USE_SECONDS);
  let cover = kept[kept.length - 1];
  if (cover === undefined || cover.keys + keys.size > cover.keys_max) {
    const keys_max = Math.max(keys.size, Math.min(COVER_KEYS_MAX, (cover?.keys_max ?? COVER_KEYS_MIN / 2) * 2));
    cover = { filter: Filter.of(keys_max), keys_max, keys: 0, times: NO_TIMES, runs: [] };
    kept.push(cover);
  }
  const { filter } = cover;
  const probe = new Probe();
  keys.visit((fingerprint) => filter.add(probe.set(fingerprint)));
  cover.keys += keys.size;
  cover.times = joined(cover.times, run.times);
  cover.runs = [...cover.runs, run];
  return kept;
}

/** Runs that are in no cover. */
export const uncovered = (runs: readonly Run[], covers: readonly Cover[]): Run[] =>
  runs.filter((run) => !covers.some((cover) => cover.runs.includes(run)));

/** Drops the oldest filters above the limit, except that of `kept`. They are read again when they are searched. */
export function forgetFilters(runs: readonly Run[], bytesMax: number, kept?: Run): void {
  let bytes = runs.reduce((sum, { filter }) => sum + (filter?.bytes.length ?? 0), 0);
  for (const run of runs) {
    if (bytes <= bytesMax) return;
    if (run === kept || run.filter === undefined) continue;
    bytes -= run.filter.bytes.length;
    run.filter = undefined;
  }
}

/** Entries of one page of a run. At 16 bytes each, a page and its key fit one 4 KiB database page. */
const PAGE_ENTRIES = 240;

/** The number of leading bits, of the low 31, that choose the page of a run. */
export const pageBitsFor = (entryCount: number): number => Math.max(0, Math.ceil(Math.log2(Math.max(1, entryCount) / PAGE_ENTRIES)));

export const pageOf = (fingerprint: number, pageBits: number): number => lowOf(fingerprint) >>> (31 - pageBits);

/** Splits entries into the pages of a run; each page is `[fingerprint, request, fingerprint, request, …]`. */
export function pagesOf(tables: readonly RequestTable[], pageBits: number): Float64Array[] {
  const sizes = new Uint32Array(2 ** pageBits);
  const count = (fingerprint: number) => {
    const page = pageOf(fingerprint, pageBits);
    sizes[page] = (sizes[page] as number) + 2;
  };
  for (const table of tables) table.visit(count);
  const pages = Array.from(sizes, (size) => new Float64Array(size));
  const filled = new Uint32Array(pages.length);
  const put = (fingerprint: number, request: number) => {
    const page = pageOf(fingerprint, pageBits);
    const values = pages[page] as Float64Array;
    const at = filled[page] as number;
    values[at] = fingerprint;
    values[at + 1] = request;
    filled[page] = at + 2;
  };
  for (const table of tables) table.visit(put);
  return pages;
}

/** Adds to `found` the requests of a fingerprint in a stored page. */
export function collectInPage(bytes: Uint8Array, fingerprint: number, found: number[]): void {
  const values = new Float64Array(bytes.slice().buffer);
  for (let i = 0; i < values.length; i += 2) if (values[i] === fingerprint) found.push(values[i + 1] as number);
}
