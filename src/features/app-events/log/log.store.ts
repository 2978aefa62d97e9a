/** Stores the log of accepted app events, and the counts and sums of the events. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { textOnce } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type Sql, type SqlValue, sql } from "#storage/sql";
import { identitiesOfText } from "../intake/parse-request.ts";
import { forgetDevices, type RequestSpan } from "./devices.store.ts";
import { allInList, insertRows, partsOf } from "./rows.store.ts";

export interface EventRow extends Row {
  request: number;
  position: number;
  received: number;
  time: number;
  name: string;
  event_id: string | null;
  /** The value of the event in millionths, as decimal text. */
  value: string | null;
  currency: string;
  parameters: string;
  tracking: number;
  /** The device of the event's request, as JSON text. */
  device: string | null;
}

/** Inserts rows into the log. `values` lists the values of all rows, with 13 columns for each row. */
export function insertEvents(tx: Transaction, values: readonly SqlValue[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_events (app, request, position, received, time, name, event_id, key, value, currency, parameters, tracking, device)`,
    13,
    values,
  );
}

/** Returns the number of the app's newest request, or 0 if the app has never sent a request. */
export async function lastRequestOf(reader: Reader, app: NodeId): Promise<number> {
  const newest = await reader.get<{ request: number }>(sql`SELECT e.request FROM app_events e WHERE e.app = ${app} ORDER BY e.request DESC LIMIT 1`);
  if (newest !== undefined) return newest.request;
  return (await reader.get<{ request: number }>(sql`SELECT l.request FROM app_event_last_requests l WHERE l.app = ${app}`))?.request ?? 0;
}

export interface KeyedEvent extends Row {
  app: string;
  name: string;
  event_id: string;
  time: number;
}

// The condition names only the key: if it named the app, too, PostgreSQL without statistics would read all events of the app by the primary key.
const KEYED = "CAST(e.app AS TEXT) AS app, e.name, e.event_id, e.time FROM app_events e WHERE e.key = ?";
/**
 * The number of keys that one statement looks up. In a statement with 16 keys, a lookup costs half as much as in a statement with 128 keys (measured
 * on SQLite).
 */
const KEYS_AT_ONCE = 16;

/**
 * Returns an app's events with these keys (`keyIn` in fingerprints.ts). Different events can have the same key, so the caller must compare the names
 * and ids of the events. The function uses one SELECT for each key, because both databases would read all events of the app if one SELECT had a list
 * of keys.
 */
export async function findKeyedEvents(reader: Reader, app: NodeId, keys: readonly number[]): Promise<KeyedEvent[]> {
  const found = partsOf(keys, KEYS_AT_ONCE).map((part) => {
    const each = textOnce(`keyed ${part.length}`, () => new Array(part.length).fill(KEYED).join(" UNION ALL SELECT "));
    return reader.all<KeyedEvent>(append(sql`SELECT`, each, part));
  });
  return (await Promise.all(found)).flat().filter((event) => event.app === app);
}

/** The columns of an event that attribution needs. */
export interface RequestEvent extends Row {
  position: number;
  time: number;
  name: string;
  /** The value of the event in millionths, as decimal text. */
  value: string | null;
  currency: string;
  tracking: number;
  /** The device of the event's request, as JSON text. */
  device: string;
}

/**
 * Describes a search for events of one request. The search returns at most `limit` events: the nearest events before the position `beyond`, or after
 * that position if `isBackward` is set.
 */
export interface EventSpan {
  readonly isBackward: boolean;
  readonly beyond: number;
  /** The times of the first and the last event that the search may return, in Unix seconds. */
  readonly times: { readonly first: number; readonly last: number };
  readonly limit: number;
}

/** A position after the last event of every request. The number still fits into the 32 bits of the column. */
export const POSITION_END = 2_147_483_647;

export function readEventsOfRequest(
  reader: Reader,
  app: NodeId,
  request: number,
  { isBackward, beyond, times, limit }: EventSpan,
): Promise<RequestEvent[]> {
  const events = sql`
    SELECT e.position, e.time, e.name, CAST(e.value AS TEXT) AS value, e.currency, e.tracking,
      (SELECT d.device FROM app_events d WHERE d.app = e.app AND d.request = e.request AND d.position = 0) AS device
    FROM app_events e WHERE e.app = ${app} AND e.request = ${request} AND e.time BETWEEN ${times.first} AND ${times.last}`;
  return reader.all<RequestEvent>(
    isBackward
      ? append(events, "AND e.position > ? ORDER BY e.position LIMIT ?", [beyond, limit])
      : append(events, "AND e.position < ? ORDER BY e.position DESC LIMIT ?", [beyond, limit]),
  );
}

/** Returns the distinct devices of these requests, as JSON texts. */
export async function readDevicesOfRequests(reader: Reader, app: NodeId, requests: readonly number[]): Promise<string[]> {
  const devices = sql`SELECT DISTINCT e.device FROM app_events e WHERE e.app = ${app} AND e.position = 0 AND e.request`;
  return (await allInList<{ device: string }>(reader, devices, requests)).map(({ device }) => device);
}

/** Selects the events of an app, each with the device of its request. */
const eventsOf = (app: NodeId): Sql => sql`
    SELECT e.request, e.position, e.received, e.time, e.name, e.event_id, CAST(e.value AS TEXT) AS value, e.currency, e.parameters, e.tracking,
      (SELECT d.device FROM app_events d WHERE d.app = e.app AND d.request = e.request AND d.position = 0) AS device
    FROM app_events e WHERE e.app = ${app}`;

/** Returns the rows of an app's log, oldest first, beginning with the given request and position. */
export const listEventsFrom = (reader: Reader, app: NodeId, request: number, position: number, limit: number): Promise<EventRow[]> =>
  reader.all<EventRow>(
    append(eventsOf(app), "AND (e.request, e.position) >= (?, ?) ORDER BY e.request, e.position LIMIT ?", [request, position, limit]),
  );

const newestFirst = ordered("descending", "e.request", "e.position");

export interface LogFilter {
  readonly name: string | undefined;
  /** The list contains only events that arrived at this time (Unix seconds) or later. */
  readonly since: number | undefined;
}

/**
 * Reads one page of an app's log, newest event first. Each row includes the device of the row's request. With a filter, a page scans at most
 * `SCAN_ROWS_MAX` rows, so that a search for a rare name does not scan the whole log. If the list has a filter, a page may be short or empty although
 * further pages follow.
 */
export async function listEvents(reader: Reader, app: NodeId, { name, since }: LogFilter, page: PageRequest): Promise<ListPage<EventRow>> {
  const all = eventsOf(app);
  if (name === undefined && since === undefined) return readPage<EventRow>(reader, all, newestFirst, page);
  const end = await findScanEnd(reader, app, page.after);
  const arrived = append(all, "AND e.request >= ? AND e.received >= ?", [end?.request ?? 0, since ?? 0]);
  const found = await readPage<EventRow>(reader, name === undefined ? arrived : append(arrived, "AND e.name = ?", [name]), newestFirst, page);
  // The rows of the log are in the order of their arrival. If one row of the log arrived before `since`, all older rows arrived before `since`, too.
  if (end === undefined || found.hasNext || (since !== undefined && end.received < since)) return found;
  return { ...found, hasNext: true, lastKey: [String(end.request), "0"] };
}

/** The greatest number of rows that one page scans. Reading a row takes some 2 µs, so a page without matching rows takes 20 ms. */
const SCAN_ROWS_MAX = 10_000;

interface ScanEnd extends Row {
  request: number;
  received: number;
}

/** Returns the row at which the scan of a page stops, or undefined if at most `SCAN_ROWS_MAX` rows are left. */
function findScanEnd(reader: Reader, app: NodeId, after: readonly string[] | undefined): Promise<ScanEnd | undefined> {
  const [request = String(Number.MAX_SAFE_INTEGER), position = "0"] = after ?? [];
  return reader.get<ScanEnd>(sql`
    SELECT e.request, e.received FROM app_events e WHERE e.app = ${app} AND (e.request, e.position) < (${request}, ${position})
    ORDER BY e.request DESC, e.position DESC LIMIT 1 OFFSET ${SCAN_ROWS_MAX}`);
}

/**
 * Reads the oldest `rows` rows after the request `after`. Returns the number of the newest of these requests that arrived before `received`, or
 * undefined if all these requests arrived later.
 */
export async function findExpired(reader: Reader, app: NodeId, after: number, received: number, rows: number): Promise<number | undefined> {
  const oldest = await reader.all<{ request: number; received: number }>(
    sql`SELECT e.request, e.received FROM app_events e WHERE e.app = ${app} AND e.request > ${after} ORDER BY e.request, e.position LIMIT ${rows}`,
  );
  let last: number | undefined;
  for (const row of oldest) {
    if (row.received >= received) break;
    last = row.request;
  }
  return last;
}

/**
 * Deletes the requests with numbers greater than `after` and up to `last`, except requests that have an event with an `event_id` and a time after
 * `repeatable`. A request is always deleted as a whole, because only its first row has the device. The caller must hold the app's lock.
 */
export async function deleteEventsBetween(tx: Transaction, app: NodeId, after: number, last: number, repeatable: number): Promise<void> {
  const kept = await tx.all<{ request: number }>(sql`
    SELECT DISTINCT e.request FROM app_events e
    WHERE e.app = ${app} AND e.request > ${after} AND e.request <= ${last} AND e.event_id IS NOT NULL AND e.time > ${repeatable} ORDER BY e.request`);
  let first = after + 1;
  for (const request of [...kept.map((row) => row.request), last + 1]) {
    if (request > first) await deleteRequests(tx, app, { first, last: request - 1 });
    first = request + 1;
  }
  if ((await lastRequestOf(tx, app)) <= last) await saveLastRequest(tx, app, last);
}

async function saveLastRequest(tx: Transaction, app: NodeId, request: number): Promise<void> {
  await tx.run(
    sql`INSERT INTO app_event_last_requests (app, request) VALUES (${app}, ${request}) ON CONFLICT (app) DO UPDATE SET request = excluded.request`,
  );
}

async function deleteRequests(tx: Transaction, app: NodeId, span: RequestSpan): Promise<void> {
  await forgetDevicesOf(tx, app, span);
  await tx.run(sql`DELETE FROM app_events WHERE app = ${app} AND request BETWEEN ${span.first} AND ${span.last}`);
}

/**
 * Removes the requests of the span from the index of devices. The caller must call this function before it deletes the devices of these requests from
 * the log, because the rows of the index are found by the devices in the log.
 */
async function forgetDevicesOf(tx: Transaction, app: NodeId, span: RequestSpan): Promise<void> {
  // In the log, the name of an install or a link begins with a colon. The index of devices does not contain the names of custom events.
  const found = await tx.all<{ device: string; name: string }>(sql`
    SELECT DISTINCT e.device, CASE WHEN e.name LIKE ':%' THEN e.name ELSE '' END AS name
    FROM app_events e WHERE e.app = ${app} AND e.request BETWEEN ${span.first} AND ${span.last} AND e.position = 0`);
  const requests = found.map(({ device, name }) => ({ identities: identitiesOfText(device), name }));
  await forgetDevices(tx, app, requests, span);
}

/** Returns the apps that have events in the log, for the job that deletes old events. */
export async function listAppsWithEvents(reader: Reader): Promise<NodeId[]> {
  const found: NodeId[] = [];
  for (let last = "0"; ; ) {
    const row = await reader.get<{ app: string }>(
      sql`SELECT CAST(e.app AS TEXT) AS app FROM app_events e WHERE e.app > ${last} ORDER BY e.app LIMIT 1`,
    );
    if (row === undefined) return found;
    last = row.app;
    found.push(row.app as NodeId);
  }
}

export interface LogRow extends Row {
  app: string;
  last_request: number;
}

const logOrder = ordered("ascending", "l.app");

/** Lists the apps that have or had events, with the number of each app's newest request. An app whose events have all been deleted is listed, too. */
export function listLogs(reader: Reader, page: PageRequest): Promise<ListPage<LogRow>> {
  // The query of `listLogs` uses the log's primary key to jump from app to app. The table of last requests has a row for each app whose events have
  // all been deleted.
  const logs = sql`
    WITH RECURSIVE apps (app) AS (
      SELECT MIN(e.app) FROM app_events e
      UNION ALL
      SELECT (SELECT MIN(e.app) FROM app_events e WHERE e.app > apps.app) FROM apps WHERE apps.app IS NOT NULL)
    SELECT CAST(l.app AS TEXT) AS app, l.last_request FROM (
      SELECT CAST(known.app AS BIGINT) AS app, COALESCE(
        (SELECT MAX(e.request) FROM app_events e WHERE e.app = known.app),
        (SELECT o.request FROM app_event_last_requests o WHERE o.app = known.app)) AS last_request
      FROM (SELECT apps.app FROM apps WHERE apps.app IS NOT NULL UNION SELECT o.app FROM app_event_last_requests o) known) l
    WHERE 1 = 1`;
  return readPage<LogRow>(reader, logs, logOrder, page);
}

const TABLES = ["app_events", "app_event_names", "app_event_sums", "app_event_devices", "app_event_ties", "app_device_ids"];

/**
 * Deletes everything that app-events stores about an app, except the app's ads (`ads.store.ts`) and the number of its newest request. Programs that
 * copy the log store the number of the last request that they have read (D-423), so the numbers must continue if an app with the same id is created
 * again.
 */
export async function deleteEventsOfApp(tx: Transaction, app: NodeId): Promise<void> {
  const last = await lastRequestOf(tx, app);
  if (last > 0) await saveLastRequest(tx, app, last);
  for (const table of TABLES) await tx.run(append(sql`DELETE FROM`, `${table} WHERE app = ?`, [app]));
}

/** The value of the column `day` in a row with the sum of all days. */
export const ALL_DAYS = -1;

/** The count and the sum of an app's events with the same day, name and currency, or the total of all days (EVT-4, EVT-36). */
export interface EventSum {
  /** The number of the day in UTC, counted from 1970-01-01, or `ALL_DAYS`. */
  readonly day: number;
  readonly name: string;
  readonly currency: string;
  count: number;
  /** The number of counted events that have a value. */
  valued: number;
  /** The sum of the values in millionths. */
  sum: bigint;
  first_time: number;
  last_time: number;
}

/**
 * 10^18. A sum is stored in two columns: `sum_high * 10^18 + sum_low`. If `sum_low` reaches 10^18, the upsert carries 1 to `sum_high`. The sum of two
 * numbers below 10^18 fits into 63 bits, so no column overflows.
 */
const LIMB = 1_000_000_000_000_000_000n;

const ADDED = `ON CONFLICT (app, day, name, currency) DO UPDATE SET
    count = app_event_sums.count + excluded.count, valued = app_event_sums.valued + excluded.valued,
    sum_high = app_event_sums.sum_high + excluded.sum_high + (app_event_sums.sum_low + excluded.sum_low) / ${LIMB},
    sum_low = (app_event_sums.sum_low + excluded.sum_low) % ${LIMB},
    first_time = CASE WHEN excluded.first_time < app_event_sums.first_time THEN excluded.first_time ELSE app_event_sums.first_time END,
    last_time = CASE WHEN excluded.last_time > app_event_sums.last_time THEN excluded.last_time ELSE app_event_sums.last_time END`;

/**
 * Adds counts and sums to the stored counts and sums. `sums` must contain each combination of day, name and currency at most once, because one upsert
 * cannot change a row twice.
 */
export function addSums(tx: Transaction, app: NodeId, sums: readonly EventSum[]): Promise<void> {
  return insertRows(
    tx,
    sql`INSERT INTO app_event_sums (app, day, name, currency, count, valued, sum_high, sum_low, first_time, last_time)`,
    10,
    sums.flatMap(({ day, name, currency, count, valued, sum, first_time, last_time }) => [
      ...[app, day, name, currency, count, valued],
      ...(sum === 0n ? [0, 0] : [String(sum / LIMB), String(sum % LIMB)]),
      ...[first_time, last_time],
    ]),
    ADDED,
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

/** Returns the sums of the days from `first` to `last`, sorted by day. If `first` and `last` are `ALL_DAYS`, returns the totals of all days. */
export async function readSums(reader: Reader, app: NodeId, first: number, last: number): Promise<EventSum[]> {
  const rows = await reader.all<SumRow>(sql`
    SELECT s.day, s.name, s.currency, s.count, s.valued, CAST(s.sum_high AS TEXT) AS sum_high, CAST(s.sum_low AS TEXT) AS sum_low, s.first_time, s.last_time
    FROM app_event_sums s WHERE s.app = ${app} AND s.day BETWEEN ${first} AND ${last} ORDER BY s.day, s.name, s.currency`);
  return rows.map(({ sum_high, sum_low, ...rest }) => ({ ...rest, sum: BigInt(sum_high) * LIMB + BigInt(sum_low) }));
}

export interface LoggedTexts extends Row {
  request: number;
  position: number;
  event_id: string | null;
  parameters: string;
  /** The device of the request as JSON text. Only the first row of a request has a device; in all other rows `device` is null. */
  device: string | null;
}

/** Returns the rows of an app's log after the given request and position, oldest first. */
export function listLoggedTexts(reader: Reader, app: NodeId, request: number, position: number, limit: number): Promise<LoggedTexts[]> {
  return reader.all<LoggedTexts>(sql`
    SELECT e.request, e.position, e.event_id, e.parameters, e.device FROM app_events e
    WHERE e.app = ${app} AND (e.request, e.position) > (${request}, ${position}) ORDER BY e.request, e.position LIMIT ${limit}`);
}

/**
 * Deletes all personal data in the log rows of a request, and replaces the request's device by `device`. The rows without personal data remain in the
 * log, so that the request number is not used again and the log still agrees with the counts. Returns the number of changed rows.
 */
export async function emptyRequest(tx: Transaction, app: NodeId, request: number, device: string): Promise<number> {
  await forgetDevicesOf(tx, app, { first: request, last: request });
  const emptied = await tx.run(sql`UPDATE app_events SET parameters = '{}', event_id = NULL, key = NULL WHERE app = ${app} AND request = ${request}`);
  await tx.run(sql`UPDATE app_events SET device = ${device} WHERE app = ${app} AND request = ${request} AND device IS NOT NULL`);
  return emptied;
}
