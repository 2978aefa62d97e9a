/** Attributes an app's events to ads, by comparing all events to all touches (I1, D-74, D-76). */

import type { Failure } from "./errors.ts";
import { objectShape, type Shape } from "./fields.ts";
import { replyWithList } from "./lists.ts";
import type { Ad, LoggedEvent, Touch } from "./nodes.ts";
import type { Turn } from "./operations.ts";
import type { Reply } from "./replies.ts";
import { asObject, asText, parameter } from "./requests.ts";
import type { World } from "./world.ts";

const DAY = 86_400;

/** The number of days after a touch within which events are attributed to it, and the events that can be attributed to an impression. */
interface Windows {
  readonly clickDays: number;
  readonly viewDays: number;
  readonly isViewed: (event: LoggedEvent) => boolean;
}

const VIEW_DAYS = 1;
const clicks: Windows = { clickDays: 30, viewDays: VIEW_DAYS, isViewed: () => false };
const clicksAndViews: Windows = { ...clicks, isViewed: ({ kind }) => kind === "MOBILE_APP_INSTALL" };
/** The attribution windows of the report (LIM-12). */
const ofReport: Windows = { clickDays: 28, viewDays: VIEW_DAYS, isViewed: () => true };
const NO_DEVICES: ReadonlySet<string> = new Set(["00000000-0000-0000-0000-000000000000", "0".repeat(22)]);
const UUID_LENGTH = 36;
const ROWS_OF_REPORT = 100;
const APP_OBJECTIVES: ReadonlySet<string> = new Set(["APP_INSTALLS", "APP_ENGAGEMENT"]);

export const isCookie = (text: string): boolean => /^([0-9A-Za-z]{22}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/.test(text);

const isGiven = (value: unknown): value is string => typeof value === "string" && value !== "";

/** The ids of a device. An id that consists of zeros counts as absent, and upper and lower case make no difference in UUIDs. */
export function devicesOf(id: unknown, cookie: unknown): string[] {
  const alike = (text: string): string => (text.length === UUID_LENGTH ? text.toLowerCase() : text);
  const isId = (value: unknown): value is string => isGiven(value) && !NO_DEVICES.has(value);
  return [...(isId(id) ? [`id ${alike(id)}`] : []), ...(isId(cookie) ? [`cookie ${alike(cookie)}`] : [])];
}

/** The persons that a request names. D-73: values that are not hashes are dropped. D-74: all identifying keys of a request belong to one person. */
export function personsOf(given: unknown): string[] {
  const hashed = Object.entries(asObject(given) ?? {}).filter(([, value]) => /^[0-9a-f]{64}$/i.test(String(value)));
  return hashed.filter(([key]) => ["em", "ph", "external_id"].includes(key)).map(([key, value]) => `${key} ${String(value).toLowerCase()}`);
}

interface Tie {
  readonly devices: readonly string[];
  readonly persons: readonly string[];
  /** D-76: whether the request may link persons to devices. A request whose events are all untracked may not link persons to devices. */
  readonly isTracked: boolean;
}

/**
 * The links between ids of devices and persons. Touches of any app link ids for all apps; requests link ids only for their own app, by the log and by
 * the ids of accepted requests (D-290).
 */
function tiesOf({ touches, app_events }: World, app: string): Tie[] {
  const { logged = [], joined = [] } = app_events.get(app) ?? {};
  return [
    ...touches.map(({ devices, persons }) => ({ devices, persons, isTracked: true })),
    ...logged.map(({ tie }) => tie),
    ...joined.map((devices) => ({ devices, persons: [], isTracked: true })),
  ];
}

const share = (some: readonly string[], others: Iterable<string>): boolean => [...others].some((one) => some.includes(one));

/** All ids that are linked to the given ids, in any number of steps. */
export function wholeDevice(ties: readonly Pick<Tie, "devices">[], wanted: readonly string[]): string[] {
  const ids = new Set(wanted);
  for (let size = -1; size !== ids.size; ) {
    size = ids.size;
    for (const { devices } of ties) if (share(devices, ids)) for (const id of devices) ids.add(id);
  }
  return [...ids];
}

/** ATTR-7: whether the ad belongs to another campaign than the app's own; undefined if the ad does not claim events of the app. */
function isCrossCampaign({ objective, app: own, tracked_apps }: Ad, app: string): boolean | undefined {
  if (APP_OBJECTIVES.has(objective)) return own === app ? false : undefined;
  return tracked_apps.includes(app) ? true : undefined;
}

interface Wanted {
  readonly devices: readonly string[];
  readonly kind: unknown;
  readonly withViews: boolean;
}

interface Row {
  readonly key: bigint;
  readonly value: Readonly<Record<string, unknown>>;
}

/** All ids of a device, and the touches of ads by this device, by its persons, and by the persons' other devices. */
function touchesOf(world: World, app: string, wanted: readonly string[]): { readonly device: readonly string[]; readonly touches: readonly Touch[] } {
  const ties = tiesOf(world, app);
  const device = wholeDevice(ties, wanted);
  const linking = ties.filter(({ isTracked }) => isTracked);
  const persons = linking.filter(({ devices }) => share(device, devices)).flatMap((tie) => tie.persons);
  const linked = linking.filter((tie) => share(persons, tie.persons)).flatMap(({ devices }) => devices);
  const reached = [...device, ...wholeDevice(ties, linked)];
  const touches = world.touches.filter(
    ({ ad, devices, persons: own }) => isCrossCampaign(ad, app) !== undefined && (share(reached, devices) || share(persons, own)),
  );
  if (persons.length > 0) world.reach("attributionPersons");
  return { device, touches };
}

/** The attributed events of a device, the earliest reported event first. */
function rowsOf(world: World, app: string, { devices: wanted, kind, withViews }: Wanted): Row[] {
  const { device, touches } = touchesOf(world, app, wanted);
  return (world.app_events.get(app)?.logged ?? []).flatMap((event, place) => {
    if (!share(device, event.tie.devices) || (kind !== undefined && event.kind !== kind)) return [];
    if (!event.isTracked) world.reach("attributionUntracked");
    const touch = event.isTracked ? dueTo(event, touches, withViews ? clicksAndViews : clicks) : undefined;
    return touch === undefined ? [] : [{ key: BigInt(place), value: shown(world, event, touch, device, app) }];
  });
}

/**
 * The touch to which an event is attributed: the last click or, for some events, the last impression; of two touches in the same second, the later
 * record.
 */
function dueTo(event: LoggedEvent, touches: readonly Touch[], { clickDays, viewDays, isViewed }: Windows): Touch | undefined {
  const { time } = event;
  const last = (what: Touch["kind"], days: number) =>
    touches
      .filter((touch) => touch.kind === what && touch.time <= time && time - touch.time <= days * DAY)
      .reduce<Touch | undefined>((latest, touch) => (latest === undefined || touch.time >= latest.time ? touch : latest), undefined);
  return last("click", clickDays) ?? (isViewed(event) ? last("impression", viewDays) : undefined);
}

/** ATTR-8: whether the touch was on another device than the event. */
const isOtherDevice = (touch: Touch, device: readonly string[]): boolean => touch.devices.length > 0 && !share(touch.devices, device);

function shown(world: World, event: LoggedEvent, touch: Touch, device: readonly string[], app: string): Row["value"] {
  const { kind, name, time } = event;
  const isOther = isOtherDevice(touch, device);
  const isView = touch.kind === "impression";
  const cross_campaign = isCrossCampaign(touch.ad, app) === true;
  world.reach(isView ? "attributionView" : "attributionClick");
  if (isOther) world.reach("attributionCrossDevice");
  if (cross_campaign) world.reach("attributionCrossCampaign");
  return {
    ...{ event: kind, event_time: time, ad_id: touch.ad.id, campaign_id: touch.ad.campaign_id, cross_campaign, cross_device: isOther },
    ...(kind === "CUSTOM_APP_EVENTS" ? { event_name: name } : {}),
    ...(isView ? { is_view_through: true, view_time: touch.time } : { click_time: touch.time }),
  };
}

/** Reads the parameter `consider_views`, for which null is not a valid flag. */
export function readFlag(given: unknown): boolean | undefined | null {
  if (given === undefined) return undefined;
  const text = String(given).toLowerCase();
  return ["true", "1"].includes(text) ? true : ["false", "0"].includes(text) ? false : null;
}

/** The attribution that the response of I1 contains on request: the newest rows of the reported device and type of event. */
export const attributionOf = ({ world, node }: Turn, devices: readonly string[], kind: unknown, withViews: boolean): unknown[] =>
  rowsOf(world, node, { devices, kind, withViews })
    .toReversed()
    .slice(0, ROWS_OF_REPORT)
    .map(({ value }) => value);

const always = ["event", "event_time", "ad_id", "campaign_id", "cross_campaign", "cross_device"];
const names = [...always, "event_name", "click_time", "is_view_through", "view_time"];
const shape: Shape = { ...objectShape(...names), always };

export function listAttribution(turn: Turn): Reply | Failure[] {
  const { world, request, node, fail } = turn;
  const [id, cookie, kind] = ["advertiser_id", "attribution", "event"].map((name) => asText(parameter(request, name)));
  const withViews = readFlag(parameter(request, "consider_views"));
  const devices = devicesOf(id, cookie);
  const problems = [
    ...(withViews === null ? [fail("invalidParameter", { parameter: "consider_views" })] : []),
    ...(kind === undefined || ["MOBILE_APP_INSTALL", "CUSTOM_APP_EVENTS"].includes(kind) ? [] : [fail("invalidParameter", { parameter: "event" })]),
    ...(isGiven(cookie) && !isCookie(cookie) ? [fail("invalidParameter", { parameter: "attribution" })] : []),
    ...(devices.length === 0 ? [fail("invalidParameter", { parameter: "advertiser_id" })] : []),
  ];
  const rows = rowsOf(world, node, { devices, kind, withViews: withViews === true });
  const reply = replyWithList(turn, { list: `listAttribution ${node}`, rows, shape });
  return problems.length === 0 ? reply : [...problems, ...(Array.isArray(reply) ? reply : [])];
}

export interface ReportRow {
  readonly ad_id: string;
  readonly campaign_id: string;
  readonly event: string;
  readonly event_name?: string;
  readonly click_through: number;
  readonly view_through: number;
  readonly cross_campaign: number;
  readonly cross_device: number;
  /** The sums of values in millionths, by currency. */
  readonly sums: Readonly<Record<string, bigint>>;
}

/** The report about the results of ads for an app from `since` to `until`, including untracked events (I1-12). */
export function reportOf(world: World, app: string, since: number, until: number): ReportRow[] {
  const rows = new Map<string, ReportRow>();
  for (const event of world.app_events.get(app)?.logged ?? []) {
    const { device, touches } = touchesOf(world, app, event.tie.devices);
    const touch = event.time < since || event.time > until ? undefined : dueTo(event, touches, ofReport);
    if (touch === undefined) continue;
    world.reach(event.isTracked ? "attributionReport" : "attributionReportUntracked");
    const { kind, name, value, currency = "" } = event;
    const { id: ad_id, campaign_id } = touch.ad;
    const known = rows.get(`${ad_id} ${name}`);
    const { click_through = 0, view_through = 0, cross_campaign = 0, cross_device = 0, sums = {} } = known ?? {};
    const one = (isSo: boolean): number => (isSo ? 1 : 0);
    rows.set(`${ad_id} ${name}`, {
      ...{ ad_id, campaign_id, event: kind, ...(kind === "CUSTOM_APP_EVENTS" ? { event_name: name } : {}) },
      click_through: click_through + one(touch.kind === "click"),
      view_through: view_through + one(touch.kind === "impression"),
      cross_campaign: cross_campaign + one(isCrossCampaign(touch.ad, app) === true),
      cross_device: cross_device + one(isOtherDevice(touch, device)),
      sums: value === undefined ? sums : { ...sums, [currency]: (sums[currency] ?? 0n) + value },
    });
  }
  return [...rows.values()];
}
