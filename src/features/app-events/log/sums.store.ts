/** Counts and sums by app, day, name and currency, and their totals (EVT-4, EVT-36). */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { insertRows, rowStatement } from "./rows.store.ts";

/** The `day` of the totals. */
export const ALL_DAYS = -1;

export interface EventSum {
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly name: string;
  readonly currency: string;
  count: number;
  /** The number of events with a value. */
  valued: number;
  /** Millionths. */
  sum: bigint;
  first_time: number;
  last_time: number;
}

/** 10^18: two numbers below it add up within 63 bits, and `sum_high` takes the carry, so no sum overflows. */
const LIMB = 1_000_000_000_000_000_000n;

const addition = rowStatement(
  10,
  `ON CONFLICT (app, day, name, currency) DO UPDATE SET
    count = app_event_sums.count + excluded.count, valued = app_event_sums.valued + excluded.valued,
    sum_high = app_event_sums.sum_high + excluded.sum_high + (app_event_sums.sum_low + excluded.sum_low) / ${LIMB},
    sum_low = (app_event_sums.sum_low + excluded.sum_low) % ${LIMB},
    first_time = CASE WHEN excluded.first_time < app_event_sums.first_time THEN excluded.first_time ELSE app_event_sums.first_time END,
    last_time = CASE WHEN excluded.last_time > app_event_sums.last_time THEN excluded.last_time ELSE app_event_sums.last_time END`,
);

/** `sums` must contain each key at most once, because an upsert cannot change a row twice. */
export function addSums(tx: Transaction, app: NodeId, sums: readonly EventSum[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_event_sums (app, day, name, currency, count, valued, sum_high, sum_low, first_time, last_time)`,
    addition,
    sums.flatMap(({ day, name, currency, count, valued, sum, first_time, last_time }) => [
      ...[app, day, name, currency, count, valued],
      ...(sum === 0n ? [0, 0] : [String(sum / LIMB), String(sum % LIMB)]),
      ...[first_time, last_time],
    ]),
  );
}

interface SumRow extends Row {
  day: number;
  name: string;
  currency: string;
  count: number;
  valued: number;
  sum_high: string;
  sum_low: string;
  first_time: number;
  last_time: number;
}

/** The sums of the days from `first` to `last`, in order; the totals for `ALL_DAYS`. */
export async function readSums(reader: Reader, app: NodeId, first: number, last: number): Promise<EventSum[]> {
  const rows = await reader.all<SumRow>(sql`
    SELECT s.day, s.name, s.currency, s.count, s.valued, CAST(s.sum_high AS TEXT) AS sum_high, CAST(s.sum_low AS TEXT) AS sum_low, s.first_time, s.last_time
    FROM app_event_sums s WHERE s.app = ${app} AND s.day BETWEEN ${first} AND ${last} ORDER BY s.day, s.name, s.currency`);
  return rows.map(({ sum_high, sum_low, ...rest }) => ({ ...rest, sum: BigInt(sum_high) * LIMB + BigInt(sum_low) }));
}
