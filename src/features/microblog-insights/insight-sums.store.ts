/**
 * Stores the sums from which insights are computed (D-54). Each count is stored by spans of a second, a minute, an hour, a day, 32 days and 1,024
 * days. To count in a range of time, Plaza reads spans of 1,024 days in the middle of the range, and shorter spans at both ends of the range. At each
 * end of the range, Plaza reads at most 59 spans of a second, 59 of a minute, 23 of an hour, 31 of a day and 31 of 32 days. A century has 36 spans of
 * 1,024 days. Counting in any range therefore reads about 400 sums at most, however many activities were recorded.
 */

import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, type SqlText, type SqlValue, sql } from "#storage/sql";
import { type Breakdown, DAY_SECONDS, type MediaMetric, type RecordedMetric, type UserMetric } from "./microblog-insights.metrics.ts";

/**
 * The lengths of the spans in seconds, the shortest first. Each length divides the next longer length without a remainder. A sum starts at a multiple
 * of the length of its span.
 */
const SPANS = [1, 60, 3_600, DAY_SECONDS, 32 * DAY_SECONDS, 1_024 * DAY_SECONDS] as const;
export const LONGEST_SPAN = SPANS[SPANS.length - 1] as number;

/** A time that is later than any time in a world file. */
export const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/**
 * A stretch of time that is counted with spans of one length. A stretch has the sums whose spans start at or after `from` and before `to`. A stretch
 * may be empty.
 */
export interface Stretch {
  readonly span: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Divides the time from `since` (included) to `until` (not included) into stretches: one stretch of the longest spans in the middle, and before and
 * after this stretch one for each shorter span.
 */
export function stretchesOf(since: number, until: number): Stretch[] {
  const stretches: Stretch[] = [];
  let [from, to] = [since, Math.max(since, until)];
  for (let at = 1; at < SPANS.length; at++) {
    const [span, longer] = [SPANS[at - 1] as number, SPANS[at] as number];
    const inner = Math.min(Math.ceil(from / longer) * longer, to);
    const outer = to === END_OF_TIME ? to : Math.max(Math.floor(to / longer) * longer, inner);
    stretches.push({ span, from, to: inner }, { span, from: outer, to });
    [from, to] = [inner, outer];
  }
  return [...stretches, { span: LONGEST_SPAN, from, to }];
}

/** The metric that a sum counts, or the breakdown by which a sum counts followers. */
export type Counted = MediaMetric | UserMetric | RecordedMetric | Breakdown;

export interface SumRow extends Row {
  target: string;
  metric: string;
  /** The start of the sum's span in Unix seconds. */
  start: number;
  /**
   * The label of the sum: the link if the sum counts clicks, or the value of the breakdown if the sum counts followers by a breakdown. The label is
   * empty for sums that count neither clicks nor followers by a breakdown.
   */
  label: string;
  value: number;
}

export type Sum = Pick<SumRow, "label" | "value">;

const record: SqlText = {
  text: `
    INSERT INTO insight_sums (target, metric, span, start, label, value)
    VALUES ${SPANS.map((span) => `(?, ?, ${span}, ?, ?, ?)`).join(", ")}
    ON CONFLICT (target, metric, span, start, label) DO UPDATE SET value = insight_sums.value + excluded.value`,
};

/** Adds the value of an activity's row to six sums: for each of the six span lengths, to the sum of the span that contains the row's start. */
export async function addToSums(tx: Transaction, { target, metric, start, label, value }: SumRow): Promise<void> {
  const values = SPANS.flatMap((span): SqlValue[] => [target, metric, start - (start % span), label, value]);
  const changed = await tx.run({ query: record, values });
  if (changed !== SPANS.length) throw new Error(`${changed} of ${SPANS.length} sums were written`);
}

const stretch = (value: string, span: number) =>
  `SELECT s.label, ${value} AS value FROM insight_sums s WHERE s.target = ? AND s.metric = ? AND s.span = ${span} AND s.start >= ? AND s.start < ?`;
const summed = (selects: readonly string[]): SqlText => ({
  text: `SELECT r.label, CAST(SUM(r.value) AS BIGINT) AS value FROM (${selects.join(" UNION ALL ")}) r GROUP BY r.label
    HAVING SUM(r.value) > 0 ORDER BY r.label`,
});

const inRange = summed(stretchesOf(0, 1).map(({ span }) => stretch("s.value", span)));

/** Returns the counts from `since` (included) to `until` (not included), by label. The result leaves out labels without a count (D-54). */
export function sumRange(reader: Reader, target: NodeId, metric: Counted, since: number, until: number): Promise<Sum[]> {
  const values = stretchesOf(since, until).flatMap(({ from, to }): SqlValue[] => [target, metric, from, to]);
  return reader.all({ query: inRange, values });
}

const untilMoment = summed([stretch("s.value", LONGEST_SPAN), ...stretchesOf(0, 1).map(({ span }) => stretch("-s.value", span))]);

/**
 * Returns the counts of activities before the time `until`, by label. The counts at and after `until`, which are usually zero, are subtracted from
 * the total counts.
 */
export function sumUntil(reader: Reader, target: NodeId, metric: Counted, until: number): Promise<Sum[]> {
  const later = stretchesOf(until, END_OF_TIME).flatMap(({ from, to }): SqlValue[] => [target, metric, from, to]);
  return reader.all({ query: untilMoment, values: [target, metric, 0, END_OF_TIME, ...later] });
}

/** Returns the counts of the days that start at or after `since` and before `until`. The result has no row for days without activity. */
export function listDays(reader: Reader, target: NodeId, metric: Counted, since: number, until: number): Promise<{ start: number; value: number }[]> {
  return reader.all(sql`
    SELECT s.start, s.value FROM insight_sums s
    WHERE s.target = ${target} AND s.metric = ${metric} AND s.span = ${DAY_SECONDS} AND s.start >= ${since} AND s.start < ${until}
    ORDER BY s.start`);
}

// The query orders its rows also by the column `span`, and has the condition `span < 2` instead of `span = 1`, so that SQLite reads the rows in the
// order of the primary key.
const sumOrder = {
  columns: ["s.target", "s.metric", "s.span", "s.start", "s.label"],
  direction: "ascending",
  keyOf: ({ target, metric, start, label }: SumRow) => [target, metric, "1", String(start), label],
} as const;

/** Lists the recorded activity, summed by second. */
export function listRecorded(reader: Reader, page: PageRequest): Promise<ListPage<SumRow>> {
  return readPage<SumRow>(
    reader,
    sql`SELECT CAST(s.target AS TEXT) AS target, s.metric, s.start, s.label, s.value FROM insight_sums s
      WHERE s.target > 0 AND s.span < 2 AND s.metric IN ('views', 'likes', 'replies', 'reposts', 'quotes', 'shares', 'clicks')`,
    sumOrder,
    page,
  );
}

export async function deleteSums(tx: Transaction, target: string): Promise<void> {
  await tx.run(sql`DELETE FROM insight_sums WHERE target = ${target}`);
}
