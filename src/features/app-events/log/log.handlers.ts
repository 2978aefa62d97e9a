/** The queries and commands of the control API: log, export, event names, sums. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { ListPage, PageRequest } from "#storage/keyset";
import { type EventKind, eventKinds } from "../app-events.contract.ts";
import { DAY_SECONDS } from "../app-events.limits.ts";
import { amountText } from "../intake/amounts.ts";
import { kindName } from "../intake/batch.ts";
import { deactivateName, listNames } from "../intake/names.store.ts";
import { type LoggedDevice, readLoggedDevice } from "../intake/parse-request.ts";
import { isStandardEvent } from "../standard-events.contract.ts";
import { type EventRow, type LogFilter, listEvents } from "./log.store.ts";
import { ALL_DAYS, readSums } from "./sums.store.ts";

/** EVT-2: an entry of the log as the control API returns it. Times are Unix seconds. */
export interface LogEntry {
  readonly id: string;
  readonly event: EventKind;
  readonly event_name?: string;
  readonly event_id?: string;
  readonly event_time: number;
  readonly received_time: number;
  /** Decimal. */
  readonly value_to_sum?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly advertiser_id?: string;
  readonly attribution?: string;
  readonly ip?: string;
  readonly extinfo?: readonly string[];
  readonly application_tracking_enabled: 0 | 1;
  readonly advertiser_tracking_enabled: 0 | 1;
  readonly ud: Readonly<Record<string, string>>;
  readonly dropped_user_data: number;
}

const NO_DEVICE: LoggedDevice = { application_tracking_enabled: 1, advertiser_tracking_enabled: 1, dropped_user_data: 0 };

export function logEntry(row: EventRow): LogEntry {
  const { advertiser_id, attribution, ip, extinfo, ud = {}, ...device } = row.device === null ? NO_DEVICE : readLoggedDevice(row.device);
  const kind = eventKinds.find((one) => kindName(one) === row.name);
  return {
    id: `${row.request}-${row.position}`,
    event: kind ?? "CUSTOM_APP_EVENTS",
    ...(kind === undefined ? { event_name: row.name } : {}),
    ...(row.event_id === null ? {} : { event_id: row.event_id }),
    event_time: row.time,
    received_time: row.received,
    ...(row.value === null ? {} : { value_to_sum: amountText(BigInt(row.value)) }),
    parameters: row.parameters === "" ? {} : JSON.parse(row.parameters),
    ...(advertiser_id === undefined ? {} : { advertiser_id }),
    ...(attribution === undefined ? {} : { attribution }),
    ...(ip === undefined ? {} : { ip }),
    ...(extinfo === undefined ? {} : { extinfo }),
    application_tracking_enabled: device.application_tracking_enabled,
    // The event's own value overrides the request's (D-76).
    advertiser_tracking_enabled: row.tracking === 1 ? 1 : 0,
    ud: ud as Readonly<Record<string, string>>,
    dropped_user_data: device.dropped_user_data,
  };
}

/** Newest first. */
export const listLog = (world: World, app: NodeId, filter: LogFilter, page: PageRequest): Promise<ListPage<EventRow>> =>
  listEvents(world.database.reader, app, filter, page);

/** Rows read at once by an export. */
const EXPORT_ROWS = 1_000;

/** The log as JSON lines, newest first. Each chunk consists of whole lines. Events that arrive during the export are left out. */
export async function* exportLines(world: World, app: NodeId, filter: LogFilter): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let after: readonly string[] | undefined;
  for (;;) {
    const { rows, hasNext, lastKey } = await listLog(world, app, filter, { limit: EXPORT_ROWS, after });
    if (rows.length > 0) yield encoder.encode(`${rows.map((row) => JSON.stringify(logEntry(row))).join("\n")}\n`);
    if (!hasNext) return;
    after = lastKey;
  }
}

export interface NameEntry {
  readonly name: string;
  readonly standard: boolean;
  readonly active: boolean;
  readonly count: number;
  /** Decimal, by currency; the key is empty for sums without one. */
  readonly sums: Readonly<Record<string, string>>;
  readonly first_time: number;
  readonly last_time: number;
}

export async function listEventNames(world: World, app: NodeId): Promise<NameEntry[]> {
  const { reader } = world.database;
  const totals = Map.groupBy(await readSums(reader, app, ALL_DAYS, ALL_DAYS), ({ name }) => name);
  return (await listNames(reader, app)).map(({ name, active }) => {
    const parts = totals.get(name) ?? [];
    return {
      name,
      standard: isStandardEvent(name),
      active: active === 1,
      count: parts.reduce((sum, { count }) => sum + count, 0),
      sums: Object.fromEntries(parts.filter(({ valued }) => valued > 0).map(({ currency, sum }) => [currency, amountText(sum)])),
      // A name has no events when the request that added it contained only duplicates.
      first_time: parts.reduce((first, { first_time }) => Math.min(first, first_time), parts[0]?.first_time ?? 0),
      last_time: parts.reduce((last, { last_time }) => Math.max(last, last_time), 0),
    };
  });
}

/** LIM-3: frees the name's place. Returns false when the app has no such name. */
export const deactivateEventName = (world: World, app: NodeId, name: string): Promise<boolean> =>
  world.database.write(async (tx) => {
    await tx.lock("app events", app);
    return deactivateName(tx, app, name);
  });

export interface DaySum {
  /** `2026-11-18`, UTC. */
  readonly day: string;
  readonly event: EventKind;
  readonly event_name?: string;
  /** Empty for events without one. */
  readonly currency: string;
  readonly count: number;
  /** Decimal; absent when no event had a value. */
  readonly sum?: string;
}

/** The sums of all days from that of `since` to that of `until` (Unix seconds), both included. */
export async function listDaySums(world: World, app: NodeId, since: number, until: number): Promise<DaySum[]> {
  const days = [since, until].map((time) => Math.floor(time / DAY_SECONDS)) as [number, number];
  return (await readSums(world.database.reader, app, ...days)).map(({ day, name, currency, count, valued, sum }) => {
    const kind = eventKinds.find((one) => kindName(one) === name);
    return {
      day: new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10),
      event: kind ?? "CUSTOM_APP_EVENTS",
      ...(kind === undefined ? { event_name: name } : {}),
      currency,
      count,
      ...(valued > 0 ? { sum: amountText(sum) } : {}),
    };
  });
}
