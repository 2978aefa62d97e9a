/**
 * Stores a batch of an app's requests in one transaction: the event names, devices, log rows and sums. Each request is stored completely or not at
 * all (D-70 to D-72).
 *
 * The transaction locks the app against all other processes, so the checks of the transaction are still valid when it commits.
 *
 * **Invariant:** an app's requests are numbered without gaps, in the order of commits, because a program that copies the log continues from a request
 * number (D-423).
 */
import { type GraphError, invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { SqlValue } from "#storage/sql";
import { DAY_SECONDS, DEDUP_WINDOW_SECONDS } from "../app-events.limits.ts";
import { type IndexedRequest, indexDevices, kindName } from "../log/devices.store.ts";
import { type FingerprintKey, keyIn, keyNumber, keyOfApp, keyText, periodOf, periodsNear } from "../log/fingerprints.ts";
import { JoinedIds } from "../log/joined-ids.store.ts";
import { ALL_DAYS, addSums, type EventSum, findKeyedEvents, insertEvents, lastRequestOf } from "../log/log.store.ts";
import { countActiveNames, findNames, insertNames } from "./intake.store.ts";
import { eventPath, type Report, type ReportedEvent } from "./parse-events.ts";
import { deviceIdentities, deviceText, identitiesOf } from "./parse-request.ts";

/** The result of a request: the indexes of its duplicate events, or the error with which the request is refused. */
export type Outcome = { readonly duplicates: ReadonlySet<number> } | { readonly refusal: Error };

const NO_DUPLICATES: ReadonlySet<number> = new Set();
const FIRST: ReadonlySet<number> = new Set([0]);

/**
 * Stores a batch of requests. The function calls `take` to get the requests after it has locked the app, so the batch includes requests that arrived
 * while another process had the lock. Therefore the batches of several processes are as large as the batches of a single process.
 */
export async function storeBatch(tx: Transaction, app: NodeId, take: () => readonly Report[], key: FingerprintKey): Promise<Outcome[]> {
  await tx.lock("app events", app);
  const lastRequest = await lastRequestOf(tx, app);
  return new AppBatch(tx, app, key, lastRequest).store(take());
}

/** The key of an event with an `event_id`, by which duplicates of the event are found (D-71). */
interface EventKey {
  /** The number under which the log's index stores the key. */
  readonly stored: number;
  /** The key with the period of the event, and with each period in which the event can have a duplicate (`timedKey`). */
  readonly own: string;
  readonly near: readonly string[];
}

const timedKey = (period: number, key: string): string => `${period} ${key}`;

class AppBatch {
  readonly #tx: Transaction;
  readonly #app: NodeId;
  readonly #key: FingerprintKey;
  readonly #rows: SqlValue[] = [];
  readonly #requests: IndexedRequest[] = [];
  /** The sums of the batch's events, by day, currency and event name. */
  readonly #sums = new Map<string, EventSum>();
  /** The keys of the batch's events that have an `event_id`. */
  readonly #keys = new Map<ReportedEvent, EventKey>();
  /** The times of the events in the log and in this batch that have an `event_id`, by period and key (`timedKey`). */
  readonly #known = new Map<string, number[]>();
  #lastRequest: number;

  constructor(tx: Transaction, app: NodeId, key: FingerprintKey, lastRequest: number) {
    this.#tx = tx;
    this.#app = app;
    this.#key = keyOfApp(key, app);
    this.#lastRequest = lastRequest;
  }

  async store(reports: readonly Report[]): Promise<Outcome[]> {
    // The three queries of a batch start together, so that PostgreSQL gets their statements in one round trip.
    const [quota, devices] = await Promise.all([
      NameQuota.open(this.#tx, this.#app, reports),
      JoinedIds.open(this.#tx, this.#app, reports.flatMap(joinedIdsOf)),
      this.#findKeys(reports),
    ]);
    const outcomes = reports.map((report) => this.#take(report, quota, devices));
    // The writes of a batch are sent together, too.
    const writes = [quota.store(), devices.store()];
    if (this.#rows.length > 0) {
      const sums = withTotals([...this.#sums.values()]);
      writes.push(insertEvents(this.#tx, this.#rows), addSums(this.#tx, this.#app, sums), indexDevices(this.#tx, this.#app, this.#requests));
    }
    await Promise.all(writes);
    return outcomes;
  }

  /** D-71: finds the events in the log that have the same key as an event of these requests. */
  async #findKeys(reports: readonly Report[]): Promise<void> {
    const wanted = new Set<number>();
    for (const { events } of reports)
      for (const event of events) {
        if (event.event_id === undefined) continue;
        const { name, event_id, time } = event;
        const [text, number, own] = [keyText(name, event_id), keyNumber(name, event_id, this.#key), periodOf(time)];
        const periods = periodsNear(time);
        for (const period of periods) wanted.add(keyIn(period, number));
        this.#keys.set(event, { stored: keyIn(own, number), own: timedKey(own, text), near: periods.map((period) => timedKey(period, text)) });
      }
    for (const { name, event_id, time } of await findKeyedEvents(this.#tx, this.#app, [...wanted]))
      this.#remember(timedKey(periodOf(time), keyText(name, event_id)), time);
  }

  #remember(key: string, time: number): void {
    const times = this.#known.get(key);
    if (times === undefined) this.#known.set(key, [time]);
    else times.push(time);
  }

  /** D-290: the ids of an accepted request are joined to one device, even if all events of the request are duplicates. */
  #take(report: Report, quota: NameQuota, devices: JoinedIds): Outcome {
    const refusal = quota.admit(report);
    if (refusal !== undefined) return { refusal };
    const ids = joinedIdsOf(report);
    devices.join(ids);
    switch (report.kind) {
      case "MOBILE_APP_INSTALL":
        // I1-30: an install counts once for each device.
        if (!devices.install(ids)) return { duplicates: FIRST };
        break;
      case "DEFERRED_APP_LINK":
        break;
      case "CUSTOM_APP_EVENTS":
        return this.#takeEvents(report);
    }
    this.#log(report, [linkOf(report)]);
    return { duplicates: NO_DUPLICATES };
  }

  #takeEvents(report: Report): Outcome {
    let duplicates: Set<number> | undefined;
    const accepted: ReportedEvent[] = [];
    for (const [at, event] of report.events.entries()) {
      if (this.#isDuplicate(event)) {
        duplicates ??= new Set();
        duplicates.add(at);
      } else accepted.push(event);
    }
    if (accepted.length > 0) this.#log(report, accepted);
    return { duplicates: duplicates ?? NO_DUPLICATES };
  }

  /**
   * I1-32, D-71: returns whether an event is a duplicate. The first event with a key is not a duplicate, so its time is recorded to find later
   * duplicates.
   */
  #isDuplicate(event: ReportedEvent): boolean {
    const key = this.#keys.get(event);
    if (key === undefined) return false;
    const isNear = (time: number) => Math.abs(time - event.time) < DEDUP_WINDOW_SECONDS;
    if (key.near.some((one) => this.#known.get(one)?.some(isNear))) return true;
    this.#remember(key.own, event.time);
    return false;
  }

  #log({ device, received }: Report, events: readonly ReportedEvent[]): void {
    const request = ++this.#lastRequest;
    for (const [position, event] of events.entries()) {
      const { name, event_id, time, value, currency, parameters, advertiser_tracking_enabled: tracking } = event;
      const amount = value === undefined ? null : rowValue(value);
      const deviceJson = position === 0 ? deviceText(device) : null;
      this.#rows.push(this.#app, request, position, received, time, name, event_id ?? null, this.#keys.get(event)?.stored ?? null);
      this.#rows.push(amount, currency, parameters, tracking, deviceJson);
      this.#count(event);
    }
    // D-76: if no event of a request may be attributed to an ad, Plaza does not link the persons in the request to the device of the request.
    const isTracked = events.some(({ advertiser_tracking_enabled }) => advertiser_tracking_enabled === 1);
    this.#requests.push({ request, identities: isTracked ? identitiesOf(device) : deviceIdentities(device), name: events[0]?.name ?? "" });
  }

  #count({ name, time, value, currency }: ReportedEvent): void {
    const day = Math.floor(time / DAY_SECONDS);
    const key = `${day} ${currency} ${name}`;
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { day, name, currency, count: 0, valued: 0, sum: 0n, first_time: time, last_time: time };
      this.#sums.set(key, sum);
    }
    sum.count++;
    if (value !== undefined) {
      sum.valued++;
      sum.sum += value;
    }
    if (time < sum.first_time) sum.first_time = time;
    if (time > sum.last_time) sum.last_time = time;
  }
}

/**
 * Returns those ids of a request that are stored as ids of a device: all ids of a request that has several ids, and the ids of a request that reports
 * an install. The single id of any other request is not stored.
 */
function joinedIdsOf({ kind, device }: Report): string[] {
  const ids = deviceIdentities(device);
  return ids.length > 1 || kind === "MOBILE_APP_INSTALL" ? ids : [];
}

/** Converts an integer to the type that the database drivers accept for a BIGINT: a number if a float represents it exactly, otherwise text. */
const rowValue = (value: bigint): number | string => (value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : String(value));
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Makes the row of the log for an install or a deferred app link. */
const linkOf = ({ kind, device, received }: Report): ReportedEvent => ({
  name: kindName(kind),
  event_id: undefined,
  time: received,
  value: undefined,
  currency: "",
  parameters: "",
  advertiser_tracking_enabled: device.advertiser_tracking_enabled,
});

/** Returns the sums of each day, followed by the sums over all days. */
function withTotals(all: readonly EventSum[]): EventSum[] {
  const totals = new Map<string, EventSum>();
  for (const sum of all) {
    const key = `${sum.currency} ${sum.name}`;
    const total = totals.get(key);
    if (total === undefined) totals.set(key, { ...sum, day: ALL_DAYS });
    else {
      total.count += sum.count;
      total.valued += sum.valued;
      total.sum += sum.sum;
      total.first_time = Math.min(total.first_time, sum.first_time);
      total.last_time = Math.max(total.last_time, sum.last_time);
    }
  }
  return [...all, ...totals.values()];
}

/**
 * Checks an app's limit of event names (LIM-1, LIM-2, D-72). The check of the limit is exact, because the transaction that adds a name holds the
 * app's lock.
 */
class NameQuota {
  readonly #tx: Transaction;
  readonly #app: NodeId;
  readonly #states: Map<string, boolean>;
  readonly #added: string[] = [];
  readonly #limit: number;
  #free: number;

  private constructor(tx: Transaction, app: NodeId, states: Map<string, boolean>, limit: number, free: number) {
    this.#tx = tx;
    this.#app = app;
    this.#states = states;
    this.#limit = limit;
    this.#free = free;
  }

  static async open(tx: Transaction, app: NodeId, reports: readonly Report[]): Promise<NameQuota> {
    const names = new Set<string>();
    for (const { events } of reports) for (const { name } of events) names.add(name);
    const states = await findNames(tx, app, [...names]);
    const limit = reports[0]?.event_name_limit ?? 0;
    return new NameQuota(tx, app, states, limit, states.size === names.size ? 0 : limit - (await countActiveNames(tx, app)));
  }

  /** Adds the new event names of a request. Returns an error if an event name is deactivated, or if a new name exceeds the app's limit of names. */
  admit({ events, list }: Report): Error | undefined {
    let added: Set<string> | undefined;
    for (const [at, { name }] of events.entries()) {
      const active = this.#states.get(name);
      if (active === true || added?.has(name) === true) continue;
      if (active === false) return deactivatedName(eventPath(list, at, "_eventName"), name);
      added ??= new Set();
      added.add(name);
      if (added.size > this.#free) return tooManyNames(eventPath(list, at, "_eventName"), name, this.#limit);
    }
    if (added === undefined) return undefined;
    this.#free -= added.size;
    for (const name of added) {
      this.#states.set(name, true);
      this.#added.push(name);
    }
    return undefined;
  }

  async store(): Promise<void> {
    if (this.#added.length > 0) await insertNames(this.#tx, this.#app, this.#added);
  }
}

/** D-72, LIM-2: the error for a request with a new event name if the app has already reached its limit of names. */
const tooManyNames = (path: string, name: string, limit: number): GraphError =>
  invalidParameter(path, `is refused: the app already has ${limit} event names, which is its limit, and ${JSON.stringify(name)} would be a new one`);

/** D-72, LIM-3: the error for an event whose name was deactivated. */
const deactivatedName = (path: string, name: string): GraphError =>
  invalidParameter(path, `is refused: the event name ${JSON.stringify(name)} was deactivated`);
