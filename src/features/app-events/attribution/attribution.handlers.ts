/** Attributes the events of a device to ads (D-74), by applying the attribution rule to the device's events and touches. */
import type { Static } from "typebox";
import type { ListRequest } from "#graph/contract/operation";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { AttributedRow, EventKind, listAttribution } from "../app-events.contract.ts";
import { amountText } from "../intake/amounts.ts";
import { deviceIdentities, isDevice } from "../intake/parse-request.ts";
import { listAds, touchesOfAd } from "./ads.store.ts";
import { type DeviceEvent, devicesOfPersons, type EventPlace, eventsOf, findDevice, personsOfDevices, wholeDevices } from "./devices.ts";
import { type Ad, type Attribution, attribute, clicksAlone, clicksAndViews, isClaimable, type Model, reporting, type Touch } from "./rule.ts";

export interface AttributionQuery {
  readonly advertiser_id: string | undefined;
  readonly attribution: string | undefined;
  readonly event: EventKind | undefined;
  readonly considersViews: boolean;
}

export async function handleListAttribution({ world, node, params, page }: ListRequest<Static<typeof listAttribution.params>>) {
  const { advertiser_id, attribution, event, consider_views = false } = params;
  if (deviceIdentities({ advertiser_id, attribution }).length === 0) throw invalidParameter("advertiser_id", "is required if attribution is missing");
  return attributionOf(world, node.id, { advertiser_id, attribution, event, considersViews: consider_views }, page);
}

interface Attributed {
  readonly row: AttributedRow;
  readonly place: EventPlace;
}

/**
 * Reads one page of a device's attributed events, newest event first. A page of attributed events leaves out events that are not attributed to an ad.
 */
export async function attributionOf(world: World, app: NodeId, input: AttributionQuery, page: PageRequest): Promise<ListPage<AttributedRow>> {
  const { ids, touches } = await findDevice(world, app, deviceIdentities(input));
  const model = input.considersViews ? clicksAndViews : clicksAlone;
  const times = timesOf(touches, app, model);
  if (times === undefined) return { rows: [], hasPrevious: false, hasNext: false };
  const search = async (isBackward: boolean, from: EventPlace | undefined, limit: number): Promise<Attributed[]> => {
    const rows: Attributed[] = [];
    for await (const event of eventsOf(world, app, { ids, kind: input.event, isBackward, from, times, count: limit })) {
      const found = attribute(event, ids, touches, app, model);
      if (found !== undefined && rows.push({ row: rowOf(event, found), place: event.place }) >= limit) break;
    }
    return rows;
  };
  const isBackward = page.before !== undefined;
  const key = placeOf(page.before ?? page.after);
  // The search for attributed events reads one row more than the page shows, to find out whether a further page follows.
  const found = await search(isBackward, page.isInclusive === true ? including(key, isBackward) : key, page.limit + 1);
  const hasMore = found.length > page.limit;
  if (hasMore) found.length = page.limit;
  if (isBackward) found.reverse();
  const [first, last] = [found[0], found[found.length - 1]];
  if (first === undefined || last === undefined) {
    const hasBack = key !== undefined && (await search(!isBackward, including(key, !isBackward), 1)).length > 0;
    return { rows: [], hasPrevious: hasBack && !isBackward, hasNext: hasBack && isBackward };
  }
  const hasNear = key !== undefined && (await search(!isBackward, isBackward ? last.place : first.place, 1)).length > 0;
  return {
    rows: found.map(({ row }) => row),
    hasPrevious: isBackward ? hasMore : hasNear,
    hasNext: isBackward ? hasNear : hasMore,
    firstKey: first.place.map(String),
    lastKey: last.place.map(String),
  };
}

/**
 * Returns the earliest and the latest time at which an event can be attributed to one of the touches. Returns undefined if no event of the app can be
 * attributed to a touch.
 */
function timesOf(touches: readonly Touch[], app: NodeId, { click_seconds, view_seconds }: Model): { first: number; last: number } | undefined {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { ad, time } of touches) if (isClaimable(ad, app)) [first, last] = [Math.min(first, time), Math.max(last, time)];
  return last < first ? undefined : { first, last: last + Math.max(click_seconds, view_seconds) };
}

const placeOf = (key: readonly string[] | undefined): EventPlace | undefined => key && [Number(key[0]), Number(key[1])];

/** Returns the position just before `place` in the direction of the search, so that a search from the returned position includes `place`. */
const including = (place: EventPlace | undefined, isBackward: boolean): EventPlace | undefined =>
  place && [place[0], place[1] + (isBackward ? -1 : 1)];

function rowOf({ kind, name, time }: DeviceEvent, { touch, cross_campaign, cross_device }: Attribution): AttributedRow {
  const isClick = touch.kind === "click";
  return {
    event: kind,
    event_name: kind === "CUSTOM_APP_EVENTS" ? name : null,
    event_time: time,
    ad_id: touch.ad.id,
    campaign_id: touch.ad.campaign_id,
    // ATTR-5, ATTR-6: `click_time` is set only for clicks, and `view_time` only for impressions.
    click_time: isClick ? touch.time : null,
    is_view_through: isClick ? null : 1,
    view_time: isClick ? null : touch.time,
    cross_campaign: cross_campaign ? 1 : 0,
    cross_device: cross_device ? 1 : 0,
  };
}

/** The greatest number of a device's events that the control API shows, because an operator does not look at more events. */
const EVENTS_MAX = 200;

/**
 * Returns a device as the control API shows the device: the touches with the ends of their attribution windows, the newest events, and the touch to
 * which each event is attributed. Events are attributed as in `app_attribution` with `consider_views`. Returns undefined if `given` has no device id.
 */
export async function deviceOf(world: World, app: NodeId, given: Partial<Pick<AttributionQuery, "advertiser_id" | "attribution">>): Promise<unknown> {
  const wanted = deviceIdentities(given);
  if (wanted.length === 0) return undefined;
  const { ids, touches } = await findDevice(world, app, wanted);
  const events: DeviceEvent[] = [];
  const times = { first: 0, last: Number.MAX_SAFE_INTEGER };
  for await (const event of eventsOf(world, app, { ids, times, count: EVENTS_MAX })) if (events.push(event) >= EVENTS_MAX) break;
  return {
    ids,
    touches: touches.toSorted((a, b) => a.time - b.time).map((touch) => touchShown(touch, app)),
    events: events.map((event) => {
      const found = attribute(event, ids, touches, app, clicksAndViews);
      return {
        event: event.kind,
        ...(event.kind === "CUSTOM_APP_EVENTS" ? { event_name: event.name } : {}),
        event_time: event.time,
        tracked: event.advertiser_tracking_enabled === 1,
        ...(found === undefined ? {} : { due_to: found.touch.id, cross_campaign: found.cross_campaign, cross_device: found.cross_device }),
      };
    }),
  };
}

function touchShown({ id, kind, time, ad }: Touch, app: NodeId) {
  const { click_seconds, view_seconds } = clicksAndViews;
  const until = time + (kind === "click" ? click_seconds : view_seconds);
  return { id, kind, time, until, ad_id: ad.id, campaign_id: ad.campaign_id, objective: ad.objective, claims: isClaimable(ad, app) };
}

/** The number of ads that one query of a report reads. */
const ADS_PAGE = 1_000;
/** The number of events that one query of a report reads. */
const ROWS_AT_ONCE = 1_000;

interface ReportRow {
  readonly ad_id: string;
  readonly campaign_id: string;
  readonly event: EventKind;
  /** The name of a custom event. Installs and links have no `event_name`. */
  readonly event_name?: string;
  /** The number of events that are attributed to a click. The field `view_through` is the number of events that are attributed to an impression. */
  click_through: number;
  view_through: number;
  cross_campaign: number;
  cross_device: number;
  /** The sums of the events' values in millionths, by currency. Values without a currency are summed under the empty key. */
  readonly sums: Map<string, bigint>;
}

/**
 * Counts, for each ad, the app's events from `since` to `until` (Unix seconds) that are attributed to the ad. An event can be attributed to a click
 * in the 28 days before the event, or to an impression in the day before the event (LIM-12). The rows of the report are sorted by ad, and the rows of
 * an ad by event.
 */
export async function reportOf(world: World, app: NodeId, since: number, until: number) {
  const rows = new Map<string, ReportRow>();
  const seen = new Set<string>();
  for (const id of await touchedDevices(world, app, since - reporting.click_seconds, until)) {
    if (seen.has(id)) continue;
    const device = await findDevice(world, app, [id]);
    for (const one of device.ids) seen.add(one);
    const wanted = { ids: device.ids, times: { first: since, last: until }, count: ROWS_AT_ONCE };
    for await (const event of eventsOf(world, app, wanted)) {
      const found = attribute(event, device.ids, device.touches, app, reporting);
      if (found !== undefined) count(reportRow(rows, found.touch.ad, event), event, found);
    }
  }
  const keys = [...rows.keys()].sort();
  return keys.map((key) => {
    const { sums, ...row } = rows.get(key) as ReportRow;
    return { ...row, sums: Object.fromEntries([...sums].map(([currency, sum]) => [currency, amountText(sum)])) };
  });
}

function count(row: ReportRow, { value, currency }: DeviceEvent, { touch, cross_campaign, cross_device }: Attribution): void {
  if (touch.kind === "click") row.click_through++;
  else row.view_through++;
  if (cross_campaign) row.cross_campaign++;
  if (cross_device) row.cross_device++;
  if (value !== undefined) row.sums.set(currency, (row.sums.get(currency) ?? 0n) + value);
}

function reportRow(rows: Map<string, ReportRow>, ad: Ad, { kind, name }: DeviceEvent): ReportRow {
  const key = `${ad.id.padStart(20, "0")} ${name}`;
  let row = rows.get(key);
  if (row === undefined) {
    const counts = { click_through: 0, view_through: 0, cross_campaign: 0, cross_device: 0 };
    const named = kind === "CUSTOM_APP_EVENTS" ? { event_name: name } : {};
    row = { ad_id: ad.id, campaign_id: ad.campaign_id, event: kind, ...named, ...counts, sums: new Map() };
    rows.set(key, row);
  }
  return row;
}

/**
 * Returns the ids of all devices that may have an attributed event: the devices that touches name, and the other devices of the persons that touches
 * name.
 */
async function touchedDevices(world: World, app: NodeId, since: number, until: number): Promise<Set<string>> {
  const touched = await touchedIdentities(world.database.reader, app, since, until);
  const ids = await wholeDevices(world, app, touched.filter(isDevice));
  const persons = [...(await personsOfDevices(world, app, ids)), ...touched.filter((identity) => !isDevice(identity))];
  const linked = await devicesOfPersons(world, app, [...new Set(persons)]);
  return new Set([...ids, ...linked]);
}

async function touchedIdentities(reader: Reader, app: NodeId, since: number, until: number): Promise<string[]> {
  const found = new Set<string>();
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await listAds(reader, { limit: ADS_PAGE, after });
    for (const ad of page.rows) {
      if (!isClaimable(ad, app)) continue;
      for await (const { identities } of touchesOfAd(reader, ad.id, since, until)) for (const identity of identities) found.add(identity);
    }
    if (!page.hasNext) return [...found];
    after = page.lastKey;
  }
}
