/** App events: which events are refused, which are counted only once, and the sums (I1, D-70 to D-76). */

import { attributionOf, devicesOf, isCookie, listAttribution, personsOf, readFlag, wholeDevice } from "../attribution.ts";
import type { AppEvents } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { isFailure, type Reply, success } from "../replies.ts";
import { asObject, characters, parameter } from "../requests.ts";
import type { World } from "../world.ts";

const NAME = /^[0-9A-Za-z_][0-9A-Za-z _-]{0,39}$/;
/** The standard events that histories use, with whether a price of the event needs a currency. */
const STANDARD: Readonly<Record<string, boolean>> = { pf_mobile_purchase: true, pf_mobile_activate_app: false };
/** The keys of an event that are not parameters of the event. */
const OWN: ReadonlySet<string> = new Set(["_eventName", "event_id", "_logTime", "_valueToSum", "advertiser_tracking_enabled"]);
const PARAMETERS_MAX = 25;
const VALUE_CHARACTERS_MAX = 100;
const SAME_WITHIN_SECONDS = 48 * 3600;
/** The end of the year 9999. */
const TIME_MAX = 253_402_300_799;

interface Event {
  readonly name: string;
  readonly id: string | undefined;
  readonly time: number;
  /** The value in millionths. */
  readonly value: bigint | undefined;
  readonly currency: string;
  /** The flag `advertiser_tracking_enabled` of the event itself. */
  readonly flag: boolean | undefined;
}

/** A value, rounded half to even to 6 digits after the point, computed from its text; undefined if it is not a number or too large. */
function readValue(given: unknown): bigint | undefined {
  const text = typeof given === "number" ? String(given) : given;
  const [, sign, whole = "", rest = ""] = (typeof text === "string" && /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === "" || whole.replace(/^0+/, "").length > 12) return undefined;
  const kept = BigInt(whole + rest.slice(0, 6).padEnd(6, "0"));
  const left = rest.slice(6);
  const isHalf = /^50*$/.test(left);
  const isUp = isHalf ? kept % 2n === 1n : left[0] !== undefined && left[0] >= "5";
  return (kept + (isUp ? 1n : 0n)) * (sign === "-" ? -1n : 1n);
}

const isFlag = (value: unknown): boolean => value === undefined || value === 0 || value === 1 || value === "0" || value === "1";
const isBoolean = (value: unknown): boolean => isFlag(value) || (typeof value === "boolean" ? true : /^(true|false)$/i.test(String(value)));
const isInteger = (value: unknown): boolean => value === undefined || /^-?\d+$/.test(String(value));

function readTime(given: unknown, now: number): number | undefined {
  if (given === undefined) return now;
  return isInteger(given) && Number(given) >= 0 && Number(given) <= TIME_MAX ? Number(given) : undefined;
}

function readEvent({ now }: World, given: unknown, isStrict: boolean): Event | undefined {
  const event = asObject(given);
  if (event === undefined) return undefined;
  const { _eventName: name, event_id: id, _valueToSum, _logTime, pf_currency: currency } = event;
  const time = readTime(_logTime, now);
  const value = _valueToSum === undefined ? undefined : readValue(_valueToSum);
  const parameters = Object.entries(event).filter(([key]) => !OWN.has(key));
  const isRight =
    typeof name === "string" &&
    NAME.test(name) &&
    time !== undefined &&
    (_valueToSum === undefined || value !== undefined) &&
    parameters.length <= PARAMETERS_MAX &&
    parameters.every(([, one]) => typeof one !== "string" || characters(one) <= VALUE_CHARACTERS_MAX) &&
    (currency === undefined || /^[A-Z]{3}$/.test(String(currency))) &&
    (value === undefined || STANDARD[name] !== true || currency !== undefined) &&
    isBoolean(event.pf_success) &&
    isInteger(event.pf_num_items) &&
    (isStrict ? isFlag : isBoolean)(event.advertiser_tracking_enabled);
  if (!isRight) return undefined;
  const own = event.advertiser_tracking_enabled;
  const flag = own === undefined ? undefined : isOn(own);
  return { name, flag, id: typeof id === "string" ? id : undefined, time, value, currency: typeof currency === "string" ? currency : "" };
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/**
 * The devices and persons of a request, and whether the request may link persons to devices. The flags of a single event may overrule for this event
 * whether the request may link persons.
 */
interface Source {
  readonly devices: readonly string[];
  readonly persons: readonly string[];
  readonly isTracked: boolean;
}

/** D-76: whether a flag is on. Flags that are not given are on. */
const isOn = (flag: unknown): boolean => !["0", "false"].includes(String(flag).toLowerCase());

const day = (time: number): string => new Date(time * 1000).toISOString().slice(0, 10);

function count({ sums }: AppEvents, key: string, value: bigint | undefined): void {
  const before = sums.get(key) ?? { count: 0, sum: undefined };
  sums.set(key, { count: before.count + 1, sum: value === undefined ? before.sum : (before.sum ?? 0n) + value });
}

function reportInstall({ world, node, fail }: Turn, source: Source): Reply {
  const { devices, isTracked } = source;
  if (devices.length === 0) return fail("invalidParameter");
  const events = eventsOf(world, node);
  events.joined.push(devices);
  const joined = events.joined.map((ids) => ({ devices: ids }));
  const isKnown = wholeDevice(joined, devices).some((device) => events.installs.has(device));
  world.reach(isKnown ? "installTwice" : "install");
  for (const device of devices) events.installs.add(device);
  if (!isKnown) count(events, `${day(world.now)} MOBILE_APP_INSTALL  `, undefined);
  if (!isKnown) events.logged.push({ kind: "MOBILE_APP_INSTALL", name: "", time: world.now, isTracked, tie: source });
  return success({ success: true });
}

export function eventsOf(world: World, app: string): AppEvents {
  const events = world.app_events.get(app) ?? { names: new Map(), counted: [], logged: [], joined: [], installs: new Set(), sums: new Map() };
  world.app_events.set(app, events);
  return events;
}

/** Whether all names of the events may be used. If the server refuses one event, it stores nothing of the request. */
function mayBeNamed(world: World, app: string, { name: of }: Event, { names }: AppEvents, isNew: (name: string) => boolean): boolean {
  const { event_name_limit = 1_000, automatic_event_logging: isAutomatic } = world.apps.get(app) ?? {};
  if (of === "pf_mobile_activate_app" && isAutomatic === true) return false;
  if (names.get(of) === "deactivated") {
    world.reach("nameDeactivated");
    return false;
  }
  const hasPlace = [...names.values()].filter((state) => state === "active").length < event_name_limit;
  if (isNew(of) && !hasPlace) world.reach("nameCap");
  return !isNew(of) || hasPlace;
}

function reportEvents(turn: Turn, { devices, persons, isTracked }: Source, isStrict: boolean): Reply {
  const { world, request, node, fail } = turn;
  const given = parsed(parameter(request, "custom_events"));
  const read = Array.isArray(given) ? given.map((one) => readEvent(world, one, isStrict)) : [undefined];
  const reported = read.filter((one) => one !== undefined);
  if (devices.length === 0 || reported.length === 0 || reported.length < read.length) {
    world.reach("badEvent");
    return fail("invalidParameter");
  }
  const events = eventsOf(world, node);
  const names = new Map(events.names);
  for (const event of reported) {
    if (!mayBeNamed(world, node, event, { ...events, names }, (name) => !names.has(name))) return fail("invalidParameter");
    names.set(event.name, "active");
  }
  for (const [name, state] of names) events.names.set(name, state);
  events.joined.push(devices);
  const counting: Event[] = [];
  for (const event of reported) {
    const { name, id, time, value, currency } = event;
    const isSame =
      id !== undefined && events.counted.some((one) => one.name === name && one.id === id && Math.abs(one.time - time) < SAME_WITHIN_SECONDS);
    if (isSame) world.reach("eventTwice");
    if (isSame) continue;
    world.reach("eventCounted");
    if (id !== undefined) events.counted.push({ name, id, time });
    counting.push(event);
    count(events, `${day(time)} CUSTOM_APP_EVENTS ${name} ${currency}`, value);
  }
  const tie = { devices, persons, isTracked: counting.some(({ flag = isTracked }) => flag) };
  events.logged.push(
    ...counting.map(({ name, time, value, currency, flag = isTracked }) => ({
      ...{ kind: "CUSTOM_APP_EVENTS", name, time, value, currency, isTracked: flag, tie },
    })),
  );
  return success({ success: true });
}

function reportAppEvents(turn: Turn): Reply {
  const { world, request, fail } = turn;
  const isStrict = world.profile === "strict";
  const value = (name: string): unknown => parameter(request, name);
  const flag = isStrict ? isFlag : isBoolean;
  const address = request.headers["x-forwarded-for"];
  if (address === undefined ? isStrict : !/^[\d.]+$|:/.test(address)) {
    world.reach("noAddress");
    return fail("invalidParameter");
  }
  const [id, cookie] = [value("advertiser_id"), value("attribution")];
  const withViews = readFlag(value("consider_views"));
  if (
    (cookie !== undefined && !isCookie(String(cookie))) ||
    withViews === null ||
    !flag(value("application_tracking_enabled")) ||
    !flag(value("advertiser_tracking_enabled"))
  )
    return fail("invalidParameter");
  const isKept = isOn(value("application_tracking_enabled"));
  const devices = devicesOf(id, cookie);
  const source = { devices, persons: isKept ? personsOf(value("ud")) : [], isTracked: isOn(value("advertiser_tracking_enabled")) };
  const kind = value("event");
  if (kind !== "MOBILE_APP_INSTALL" && kind !== "CUSTOM_APP_EVENTS") return fail("invalidParameter");
  const reply = kind === "MOBILE_APP_INSTALL" ? reportInstall(turn, source) : reportEvents(turn, source, isStrict);
  if (isFailure(reply) || withViews === undefined) return reply;
  return success({ success: true, data: attributionOf(turn, devices, kind, withViews) });
}

export const eventOperations: readonly Operation[] = [
  {
    ...{ name: "reportAppEvents", method: "POST", edge: "activities", on: "app", surfaces: ["base"], form: "wrapped", scheme: "any" },
    ...{ kinds: ["app"], scopes: [], hasTask: (_, { app }, node) => app === node },
    reply: reportAppEvents,
  },
  {
    ...{ name: "listAttribution", method: "GET", edge: "app_attribution", on: "app", surfaces: ["base"], form: "wrapped", scheme: "any" },
    ...{ kinds: ["app"], scopes: [], isOfNoPerson: true, hasTask: (_, { app }, node) => app === node },
    reply: listAttribution,
  },
];
