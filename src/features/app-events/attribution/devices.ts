/**
 * Finds a device's events, persons and linked devices with the index of the log (D-74).
 *
 * A device is a set of ids. Two ids belong to one device if an accepted request of the app names both ids (D-290), or if a touch names both ids. So a
 * search by any id of a device finds the same events. Persons link devices: a device's persons are the persons that its own requests and touches
 * name, and its linked devices are the devices of other requests and touches that name one of these persons. The search for linked devices does not
 * continue with the persons of linked devices.
 */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { type EventKind, eventKinds } from "../app-events.contract.ts";
import { identitiesOfText, isDevice } from "../intake/parse-request.ts";
import { findRequests, findTies, kindName } from "../log/devices.store.ts";
import { findJoinedIds } from "../log/joined-ids.store.ts";
import { POSITION_END, type RequestEvent, readDevicesOfRequests, readEventsOfRequest } from "../log/log.store.ts";
import { findTouches, type StoredTouch } from "./ads.store.ts";
import type { AttributableEvent } from "./rule.ts";

/**
 * The position of an event in the log: the number of its request, and its index in the request. The position of an event is unique in the app, and
 * later events have greater positions.
 */
export type EventPlace = readonly [request: number, position: number];

export interface DeviceEvent extends AttributableEvent {
  readonly place: EventPlace;
  readonly name: string;
  /** The value of the event in millionths. */
  readonly value: bigint | undefined;
  readonly currency: string;
}

export interface KnownDevice {
  readonly ids: readonly string[];
  /** The touches of the device, of the device's persons, and of all devices that are linked by these persons. */
  readonly touches: readonly StoredTouch[];
}

export async function findDevice(world: World, app: NodeId, wanted: readonly string[]): Promise<KnownDevice> {
  const ids = await wholeDevices(world, app, wanted);
  const persons = await personsOfDevices(world, app, ids);
  const linked = await devicesOfPersons(world, app, persons);
  return { ids, touches: await findTouches(world.database.reader, distinct([...ids, ...persons, ...linked])) };
}

/** Returns all ids of the devices that have at least one of the `wanted` ids. */
export async function wholeDevices({ database: { reader } }: World, app: NodeId, wanted: readonly string[]): Promise<string[]> {
  const ids = new Set(wanted);
  for (let next = [...ids]; next.length > 0; ) {
    const [joined, touches] = await Promise.all([findJoinedIds(reader, app, next), findTouches(reader, next)]);
    next = distinct([...joined, ...touches.flatMap(({ devices }) => devices)]).filter((id) => !ids.has(id));
    for (const id of next) ids.add(id);
  }
  return [...ids];
}

/** Returns the persons that a request or touch names together with at least one of these ids. */
export const personsOfDevices = async (world: World, app: NodeId, ids: readonly string[]): Promise<string[]> =>
  (await namedWith(world, app, ids)).filter((identity) => !isDevice(identity));

/** Returns all ids of the devices that a request or touch names together with at least one of these persons. */
export const devicesOfPersons = async (world: World, app: NodeId, persons: readonly string[]): Promise<string[]> =>
  wholeDevices(world, app, (await namedWith(world, app, persons)).filter(isDevice));

/** Returns all identities (device ids and persons) in the touches and requests that name at least one of the wanted identities. */
async function namedWith({ database: { reader } }: World, app: NodeId, wanted: readonly string[]): Promise<string[]> {
  const known = new Set(wanted);
  const named = (await findTouches(reader, wanted)).flatMap(({ identities }) => identities);
  for (const device of await readDevicesOfRequests(reader, app, await findTies(reader, app, wanted))) {
    const identities = identitiesOfText(device);
    // The index may return a request without the wanted identities, because two texts can have the same fingerprint.
    if (identities.some((identity) => known.has(identity))) named.push(...identities);
  }
  return distinct(named);
}

/** A search for events of a device. */
export interface WantedEvents {
  readonly ids: readonly string[];
  /** The search reads only events whose kind is `kind`. If `kind` is undefined, the search reads events of all kinds. */
  readonly kind?: EventKind | undefined;
  /** If `isBackward` is true, the search reads the oldest events first. By default, the search reads the newest events first. */
  readonly isBackward?: boolean;
  /**
   * The search begins after the position `from`: by default, the search reads only earlier events, and with `isBackward` only later events. If `from`
   * is undefined, the search reads all events.
   */
  readonly from?: EventPlace | undefined;
  /** The times of the first and the last event that the search may return, in Unix seconds. */
  readonly times: { readonly first: number; readonly last: number };
  /** The number of rows that the first query of the search reads; later queries read more rows. */
  readonly count: number;
}

const REQUESTS_MIN = 16;
const REQUESTS_MAX = 1_024;
const ROWS_MAX = 1_000;

/** Reads the events of a device, newest first, or oldest first if `isBackward` is set. */
export async function* eventsOf(world: World, app: NodeId, wanted: WantedEvents): AsyncGenerator<DeviceEvent> {
  const { ids, kind, isBackward = false, times, count } = wanted;
  const known = new Set(ids);
  const from = wanted.from ?? (isBackward ? [0, -1] : [Number.MAX_SAFE_INTEGER - 1, POSITION_END]);
  let limit = Math.min(Math.max(count, 1), ROWS_MAX);
  for await (const request of requestsOf(world, app, { ids, kind, isBackward }, from[0])) {
    for (let beyond = request === from[0] ? from[1] : isBackward ? -1 : POSITION_END; ; ) {
      const rows = await readEventsOfRequest(world.database.reader, app, request, { isBackward, beyond, times, limit });
      // The index may return a request of another device, because two ids can have the same fingerprint.
      if (!identitiesOfText(rows[0]?.device ?? "{}").some((identity) => known.has(identity))) break;
      for (const row of rows) {
        const event = eventOf(request, row);
        if (kind === undefined || event.kind === kind) yield event;
      }
      if (rows.length < limit) break;
      beyond = rows[rows.length - 1]?.position ?? beyond;
      limit = Math.min(limit * 2, ROWS_MAX);
    }
  }
}

type RequestOrder = Pick<WantedEvents, "ids" | "kind"> & { readonly isBackward: boolean };

/** Yields the numbers of the requests that a device may have sent, beginning with the request `start`. */
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

const eventOf = (request: number, { position, name, time, value, currency, tracking }: RequestEvent): DeviceEvent => ({
  place: [request, position],
  kind: eventKinds.find((kind) => kindName(kind) === name) ?? "CUSTOM_APP_EVENTS",
  name,
  time,
  value: value === null ? undefined : BigInt(value),
  currency,
  advertiser_tracking_enabled: tracking === 1 ? 1 : 0,
});

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
