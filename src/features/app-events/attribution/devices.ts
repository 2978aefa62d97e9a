/**
 * Finds the events, the persons and the linked devices of a device through the index of the log.
 *
 * Person keys link devices one step far (D-74): a device's persons are those of its own requests and touches, and its linked
 * devices are those of other requests and touches with one of these persons. Persons of linked devices are not followed.
 */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { eventKinds } from "../app-events.contract.ts";
import { ATTRIBUTED_EVENTS_MAX } from "../app-events.limits.ts";
import { fingerprintOf } from "../dedup-index/fingerprints.ts";
import { logIndexOf } from "../dedup-index/log-index.ts";
import { kindName } from "../intake/batch.ts";
import { deviceIdentities, identitiesOfText, type LoggedDevice, readLoggedDevice } from "../intake/parse-request.ts";
import { type EventRow, readEventsOfRequest } from "../log/log.store.ts";
import { findTouches } from "./ads.store.ts";
import type { AttributableEvent } from "./rule.ts";

export interface DeviceEvent extends AttributableEvent {
  /** Unique in the app. */
  readonly key: string;
  readonly name: string;
  /** Millionths. */
  readonly value: bigint | undefined;
  readonly currency: string;
}

export interface KnownDevice {
  /** The requested ids, and those of the same requests. */
  readonly ids: readonly string[];
  readonly persons: readonly string[];
  /** Ids of other devices of its persons. */
  readonly linked: readonly string[];
  /** Newest first. */
  readonly events: readonly DeviceEvent[];
}

interface LoggedRequest {
  readonly number: number;
  readonly rows: readonly EventRow[];
  readonly device: LoggedDevice;
}

const isPerson = (identity: string): boolean => !identity.startsWith("device:") && !identity.startsWith("cookie:");

export async function findDevice(world: World, app: NodeId, wanted: readonly string[]): Promise<KnownDevice> {
  const { reader } = world.database;
  const requests = await requestsOf(world, app, wanted);
  // D-76: a request whose events are all kept out of attribution does not link devices either.
  const tracked = requests.filter(({ rows }) => rows.some(({ tracking }) => tracking === 1));
  const ids = distinct([...wanted, ...requests.flatMap(({ device }) => deviceIdentities(device))]);
  const touches = await findTouches(reader, ids);
  const persons = distinct([...tracked.flatMap(identities), ...touches.flatMap((touch) => touch.identities)].filter(isPerson));
  const linked = await devicesOf(world, app, persons);
  return { ids, persons, linked: linked.filter((id) => !ids.includes(id)), events: requests.flatMap(eventsOf).slice(0, ATTRIBUTED_EVENTS_MAX) };
}

/** Devices of requests and touches that name one of these persons. */
export async function devicesOf(world: World, app: NodeId, persons: readonly string[]): Promise<string[]> {
  if (persons.length === 0) return [];
  const requests = await requestsOf(world, app, persons);
  const tracked = requests.filter(({ rows }) => rows.some(({ tracking }) => tracking === 1));
  const touches = await findTouches(world.database.reader, persons);
  return distinct([...tracked.flatMap(({ device }) => deviceIdentities(device)), ...touches.flatMap(({ devices }) => devices)]);
}

/** The newest requests with one of these identities. */
async function requestsOf(world: World, app: NodeId, wanted: readonly string[]): Promise<LoggedRequest[]> {
  const { reader } = world.database;
  const found = await logIndexOf(world).findIdentities(reader, app, wanted.map(fingerprintOf));
  const numbers = [...new Set([...found.values()].flat())].sort((a, b) => b - a);
  const requests: LoggedRequest[] = [];
  let events = 0;
  for (const number of numbers) {
    const logged = await readRequest(reader, app, number);
    // A fingerprint may lead to a request with other identities.
    if (logged === undefined || !identities(logged).some((identity) => wanted.includes(identity))) continue;
    requests.push(logged);
    events += logged.rows.length;
    if (events >= ATTRIBUTED_EVENTS_MAX) break;
  }
  return requests;
}

async function readRequest(reader: Reader, app: NodeId, number: number): Promise<LoggedRequest | undefined> {
  const rows = await readEventsOfRequest(reader, app, number);
  const text = rows[0]?.device ?? undefined;
  return text === undefined ? undefined : { number, rows, device: readLoggedDevice(text) };
}

const identities = ({ rows }: LoggedRequest): string[] => identitiesOfText(rows[0]?.device ?? "{}");

const eventsOf = ({ number, rows }: LoggedRequest): DeviceEvent[] =>
  rows.toReversed().map(({ position, name, time, value, currency, tracking }) => ({
    key: `${number}-${position}`,
    kind: eventKinds.find((kind) => kindName(kind) === name) ?? "CUSTOM_APP_EVENTS",
    name,
    time,
    value: value === null ? undefined : BigInt(value),
    currency,
    advertiser_tracking_enabled: tracking === 1 ? 1 : 0,
  }));

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
