/** A device as the operator sees it: its touches with their windows, its newest events, and the touch that each is due to. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { deviceIdentities } from "../intake/identities.ts";
import { type DeviceEvent, eventsOf, findDevice } from "./devices.ts";
import { attribute, clicksAndViews, isClaimable, type Touch } from "./rule.ts";

/** As many as a person looks at. */
const EVENTS_MAX = 200;

interface DeviceIds {
  readonly advertiser_id?: string | undefined;
  readonly attribution?: string | undefined;
}

/** By the model of `app_attribution` with `consider_views`. Undefined: no id was given. */
export async function deviceOf(world: World, app: NodeId, given: DeviceIds): Promise<unknown> {
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
