/** Reading attribution (D-74): applies the rule to the events of a device and the touches of its persons. */
import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { attributionRow, EventKind, readAttribution } from "../app-events.contract.ts";
import { deviceIdentities, readCookie, requireKind } from "../intake/parse-request.ts";
import { type DeviceEvent, eventsOf, findDevice } from "./devices.ts";
import { type Attribution, attribute, clicksAlone, clicksAndViews } from "./rule.ts";

export type AttributionRow = Static<typeof attributionRow>;

export interface AttributionQuery {
  readonly advertiser_id: string | undefined;
  readonly attribution: string | undefined;
  readonly event: EventKind | undefined;
  readonly considersViews: boolean;
}

type ReadAttribution = OperationRequest<Static<typeof readAttribution.params>>;

export async function handleReadAttribution({ world, node, params }: ReadAttribution): Promise<Static<typeof readAttribution.returns>> {
  requireKind(world, params.event);
  const advertiser_id = params.advertiser_id === "" ? undefined : params.advertiser_id;
  const attribution = readCookie(params.attribution);
  if (deviceIdentities({ advertiser_id, attribution }).length === 0) throw invalidParameter("advertiser_id", "or attribution is required");
  const input = { advertiser_id, attribution, event: params.event, considersViews: params.consider_views === true };
  return { data: await attributionOf(world, node.id, input) };
}

/** Newest event first; events that are attributed to no ad are left out. */
export async function attributionOf(world: World, app: NodeId, input: AttributionQuery): Promise<AttributionRow[]> {
  const device = await findDevice(world, app, deviceIdentities(input));
  const model = input.considersViews ? clicksAndViews : clicksAlone;
  const rows: AttributionRow[] = [];
  if (device.touches.length === 0) return rows;
  for await (const events of eventsOf(world, app, device.ids)) {
    for (const event of events) {
      if (input.event !== undefined && event.kind !== input.event) continue;
      const found = attribute(event, device.ids, device.touches, app, model);
      if (found !== undefined) rows.push(rowOf(event, found));
    }
  }
  return rows;
}

function rowOf({ kind, name, time }: DeviceEvent, { touch, cross_campaign, cross_device }: Attribution): AttributionRow {
  return {
    event: kind,
    ...(kind === "CUSTOM_APP_EVENTS" ? { event_name: name } : {}),
    event_time: time,
    ad_id: touch.ad.id,
    campaign_id: touch.ad.campaign_id,
    // ATTR-5, ATTR-6.
    ...(touch.kind === "click" ? { click_time: touch.time } : { is_view_through: true, view_time: touch.time }),
    cross_campaign,
    cross_device,
  };
}
