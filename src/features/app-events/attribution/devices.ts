/**
 * Finds the events, the persons and the linked devices of a device through the index of the log (D-74).
 *
 * A device is what its ids are tied to: an advertising id and a cookie that one request or touch names are one device, and so are
 * ids that share one of these. So every id of a device leads to the same events. Persons link devices one step far: a device's
 * persons are those of its own requests and touches, and its linked devices are those of other requests and touches with one of
 * these persons. Persons of linked devices are not followed.
 */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { type EventKind, eventKinds } from "../app-events.contract.ts";
import { identitiesOfText, isDevice } from "../intake/parse-request.ts";
import { findRequests, findTies, kindName } from "../log/devices.store.ts";
import { POSITION_END, type RequestEvent, readDevicesOfRequests, readEventsOfRequest } from "../log/log.store.ts";
import { findTouches, type StoredTouch } from "./ads.store.ts";
import type { AttributableEvent } from "./rule.ts";

/** The request of an event, and its position there: unique in the app, and in the order of arrival. */
export type EventPlace = readonly [request: number, position: number];

export interface DeviceEvent extends AttributableEvent {
  readonly place: EventPlace;
  readonly name: string;
  /** Millionths. */
  readonly value: bigint | undefined;
  readonly currency: string;
}

export interface KnownDevice {
  readonly ids: readonly string[];
  /** Those of the device, its persons, and the devices that these link. */
  readonly touches: readonly StoredTouch[];
}

/** Identities that one request or one touch names. */
interface Tie {
  readonly identities: readonly string[];
  /** D-76: a request whose events are all kept out of attribution ties ids of its device only, not persons. */
  readonly isTracked: boolean;
}

export async function findDevice(world: World, app: NodeId, wanted: readonly string[]): Promise<KnownDevice> {
  const { ids, persons } = await follow(world, app, wanted);
  const linked = await devicesOf(world, app, persons);
  return { ids, touches: await findTouches(world.database.reader, distinct([...ids, ...persons, ...linked])) };
}

/** All ids of the devices that requests and touches name together with one of these persons. */
export async function devicesOf(world: World, app: NodeId, persons: readonly string[]): Promise<readonly string[]> {
  const tied = (await tiesOf(world, app, persons)).filter(({ isTracked }) => isTracked);
  return (await follow(world, app, distinct(tied.flatMap(({ identities }) => identities)).filter(isDevice))).ids;
}

/** All ids of the devices with these ids, and the persons of the devices. */
export async function follow(world: World, app: NodeId, wanted: readonly string[]): Promise<{ ids: readonly string[]; persons: readonly string[] }> {
  const ids = new Set(wanted);
  const persons = new Set<string>();
  for (let next = [...ids]; next.length > 0; ) {
    const found = new Set<string>();
    for (const { identities, isTracked } of await tiesOf(world, app, next)) {
      for (const identity of identities) {
        if (isDevice(identity)) found.add(identity);
        else if (isTracked) persons.add(identity);
      }
    }
    next = [...found].filter((id) => !ids.has(id));
    for (const id of next) ids.add(id);
  }
  return { ids: [...ids], persons: [...persons] };
}

/** The touches with one of these identities, and what requests tie to them: one row for each set of identities that occurs. */
async function tiesOf(world: World, app: NodeId, wanted: readonly string[]): Promise<Tie[]> {
  const { reader } = world.database;
  const known = new Set(wanted);
  const ties: Tie[] = (await findTouches(reader, wanted)).map(({ identities }) => ({ identities, isTracked: true }));
  for (const { device, tracked } of await readDevicesOfRequests(reader, app, await findTies(reader, app, wanted))) {
    const identities = identitiesOfText(device);
    // A fingerprint may lead to a request with other identities.
    if (identities.some((identity) => known.has(identity))) ties.push({ identities, isTracked: tracked === 1 });
  }
  return ties;
}

/** Events of a device to read. */
export interface WantedEvents {
  readonly ids: readonly string[];
  /** Only events of this kind, if given. */
  readonly kind?: EventKind | undefined;
  /** Oldest first, instead of newest first. */
  readonly isBackward?: boolean;
  /** Only events beyond this one. */
  readonly from?: EventPlace | undefined;
  /** The first and last time of wanted events, in Unix seconds. */
  readonly times: { readonly first: number; readonly last: number };
  /** How many are probably wanted: so many rows are read first, and more when more are asked for. */
  readonly count: number;
}

const REQUESTS_MIN = 16;
const REQUESTS_MAX = 1_024;
const ROWS_MAX = 1_000;

/** The events of a device, in the order of the log or against it. */
export async function* eventsOf(world: World, app: NodeId, wanted: WantedEvents): AsyncGenerator<DeviceEvent> {
  const { ids, kind, isBackward = false, times, count } = wanted;
  const known = new Set(ids);
  const from = wanted.from ?? (isBackward ? [0, -1] : [Number.MAX_SAFE_INTEGER - 1, POSITION_END]);
  let limit = Math.min(Math.max(count, 1), ROWS_MAX);
  for await (const request of requestsOf(world, app, { ids, kind, isBackward }, from[0])) {
    for (let beyond = request === from[0] ? from[1] : isBackward ? -1 : POSITION_END; ; ) {
      const rows = await readEventsOfRequest(world.database.reader, app, request, { isBackward, beyond, times, limit });
      const devices = identitiesOfText(rows[0]?.device ?? "{}").filter(isDevice);
      // A fingerprint may lead to a request of another device.
      if (!devices.some((id) => known.has(id))) break;
      for (const row of rows) {
        const event = eventOf(request, row, devices);
        if (kind === undefined || event.kind === kind) yield event;
      }
      if (rows.length < limit) break;
      beyond = rows[rows.length - 1]?.position ?? beyond;
      limit = Math.min(limit * 2, ROWS_MAX);
    }
  }
}

type RequestOrder = Pick<WantedEvents, "ids" | "kind"> & { readonly isBackward: boolean };

/** The numbers of the requests that may be of a device: `start`, if it is one of them, and those beyond it. */
async function* requestsOf(world: World, app: NodeId, { ids, kind, isBackward }: RequestOrder, start: number): AsyncGenerator<number> {
  const name = kind === undefined || kind === "CUSTOM_APP_EVENTS" ? undefined : kindName(kind);
  let from = isBackward ? start - 1 : start + 1;
  for (let limit = REQUESTS_MIN; ; limit = Math.min(limit * 4, REQUESTS_MAX)) {
    const requests = await findRequests(world.database.reader, app, { ids, kind: name, isBackward, from, limit });
    yield* requests;
    const last = requests[requests.length - 1];
    if (last === undefined || requests.length < limit) return;
    from = last;
  }
}

const eventOf = (request: number, { position, name, time, value, currency, tracking }: RequestEvent, devices: readonly string[]): DeviceEvent => ({
  place: [request, position],
  kind: eventKinds.find((kind) => kindName(kind) === name) ?? "CUSTOM_APP_EVENTS",
  name,
  time,
  value: value === null ? undefined : BigInt(value),
  currency,
  devices,
  advertiser_tracking_enabled: tracking === 1 ? 1 : 0,
});

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
