/** Reading attribution (D-74): applies the rule to the events of a device and the touches of its persons. */
import type { Static } from "typebox";
import type { ListRequest } from "#graph/contract/operation";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { EventKind, listAttribution } from "../app-events.contract.ts";
import { deviceIdentities } from "../intake/identities.ts";
import { readCookie, requireKind } from "../intake/parse-request.ts";
import type { AttributedRow } from "./attributed-row.ts";
import { type DeviceEvent, type EventPlace, eventsOf, findDevice } from "./devices.ts";
import { type Attribution, attribute, clicksAlone, clicksAndViews, isClaimable, type Model, type Touch } from "./rule.ts";

export interface AttributionQuery {
  readonly advertiser_id: string | undefined;
  readonly attribution: string | undefined;
  readonly event: EventKind | undefined;
  readonly considersViews: boolean;
}

export async function handleListAttribution({ world, node, params, page }: ListRequest<Static<typeof listAttribution.params>>) {
  requireKind(world, params.event);
  const advertiser_id = params.advertiser_id === "" ? undefined : params.advertiser_id;
  const attribution = readCookie(params.attribution);
  if (deviceIdentities({ advertiser_id, attribution }).length === 0) throw invalidParameter("advertiser_id", "or attribution is required");
  const input = { advertiser_id, attribution, event: params.event, considersViews: params.consider_views === true };
  return attributionOf(world, node.id, input, page);
}

interface Attributed {
  readonly row: AttributedRow;
  readonly place: EventPlace;
}

/** One page, newest event first; events that are attributed to no ad are left out. */
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
  // One extra row shows whether more rows follow, one on the other side whether rows precede.
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

/** The times of events that a touch may claim; undefined if there is no such touch. */
function timesOf(touches: readonly Touch[], app: NodeId, { click_seconds, view_seconds }: Model): { first: number; last: number } | undefined {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { ad, time } of touches) if (isClaimable(ad, app)) [first, last] = [Math.min(first, time), Math.max(last, time)];
  return last < first ? undefined : { first, last: last + Math.max(click_seconds, view_seconds) };
}

const placeOf = (key: readonly string[] | undefined): EventPlace | undefined => key && [Number(key[0]), Number(key[1])];

/** The place before this one in the direction, so that the search includes it. */
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
    // ATTR-5, ATTR-6.
    click_time: isClick ? touch.time : null,
    is_view_through: isClick ? null : 1,
    view_time: isClick ? null : touch.time,
    cross_campaign: cross_campaign ? 1 : 0,
    cross_device: cross_device ? 1 : 0,
  };
}
