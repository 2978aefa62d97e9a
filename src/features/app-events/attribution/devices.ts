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
import type { Reader } from "#storage/database";
import { eventKinds } from "../app-events.contract.ts";
import { fingerprintOf } from "../dedup-index/fingerprints.ts";
import { logIndexOf } from "../dedup-index/log-index.ts";
import { kindName } from "../intake/batch.ts";
import { isDevice, isUuid } from "../intake/identities.ts";
import { identitiesOfText } from "../intake/parse-request.ts";
import { type EventRow, readDevicesOfRequests, readEventsOfRequest } from "../log/log.store.ts";
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

/**
 * The requests and touches with one of these identities. It reads one row of each request of a device, some 3 µs each: the cost of
 * a page grows by that with the requests (not the events) of the device.
 */
async function tiesOf(world: World, app: NodeId, wanted: readonly string[]): Promise<Tie[]> {
  const { reader } = world.database;
  const known = new Set(wanted);
  const ties: Tie[] = (await findTouches(reader, wanted)).map(({ identities }) => ({ identities, isTracked: true }));
  for (const { device, tracked } of await readDevicesOfRequests(reader, app, await requestsOf(world, app, wanted))) {
    const identities = identitiesOfText(device);
    // A fingerprint may lead to a request with other identities.
    if (identities.some((identity) => known.has(identity))) ties.push({ identities, isTracked: tracked === 1 });
  }
  return ties;
}

/** The events of a device by request, newest first, or oldest first if `isBackward`: those beyond `from`, or all. */
export async function* eventsOf(
  world: World,
  app: NodeId,
  ids: readonly string[],
  isBackward = false,
  from: EventPlace = isBackward ? [0, 0] : [Number.MAX_SAFE_INTEGER, 0],
): AsyncGenerator<readonly DeviceEvent[]> {
  const [request, position] = from;
  const numbers = await requestsOf(world, app, ids);
  if (isBackward) numbers.reverse();
  const known = new Set(ids);
  for (const number of numbers) {
    if (isBackward ? number < request : number > request) continue;
    const events = await readDeviceEvents(world.database.reader, app, number, known);
    if (isBackward) events.reverse();
    yield number === request ? events.filter(({ place }) => (isBackward ? place[1] > position : place[1] < position)) : events;
  }
}

async function readDeviceEvents(reader: Reader, app: NodeId, number: number, ids: ReadonlySet<string>): Promise<DeviceEvent[]> {
  const rows = await readEventsOfRequest(reader, app, number);
  const devices = identitiesOf(rows).filter(isDevice);
  if (!devices.some((id) => ids.has(id))) return [];
  return rows.toReversed().map(({ position, name, time, value, currency, tracking }) => ({
    place: [number, position],
    kind: eventKinds.find((kind) => kindName(kind) === name) ?? "CUSTOM_APP_EVENTS",
    name,
    time,
    value: value === null ? undefined : BigInt(value),
    currency,
    devices,
    advertiser_tracking_enabled: tracking === 1 ? 1 : 0,
  }));
}

/** The numbers of the requests that may have one of these identities, the newest first. */
async function requestsOf(world: World, app: NodeId, identities: readonly string[]): Promise<number[]> {
  const found = await logIndexOf(world).findIdentities(world.database.reader, app, identities.flatMap(fingerprintsOf));
  return [...new Set([...found.values()].flat())].sort((a, b) => b - a);
}

/** Older programs stored UUIDs as they were sent, mostly in upper case on platform I. */
function fingerprintsOf(identity: string): number[] {
  const at = identity.indexOf(":") + 1;
  const upper = identity.slice(0, at) + identity.slice(at).toUpperCase();
  return isDevice(identity) && isUuid(identity.slice(at)) && upper !== identity
    ? [identity, upper].map((one) => fingerprintOf(one))
    : [fingerprintOf(identity)];
}

const identitiesOf = (rows: readonly EventRow[]): string[] => identitiesOfText(rows[0]?.device ?? "{}");

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
