/** The control routes of attribution record clicks and impressions, report attributed events, and show a device with its events. */
import { type Static, Type } from "typebox";
import { badRequest, unprocessable } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldId } from "#graph/worlds/file/schema-words";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import { APP, appOf, event, seconds, spanOf, spanQuery, sums, time } from "../app-events.control.ts";
import { deviceIdentities } from "../intake/parse-request.ts";
import { isHashed, personsOf, readUserData } from "../intake/parse-user-data.ts";
import { insertTouch } from "./ads.store.ts";
import { deviceOf, reportOf } from "./attribution.handlers.ts";
import type { Touch } from "./rule.ts";

const reportRow = Type.Object({
  ad_id: Type.String(),
  campaign_id: Type.String(),
  event,
  event_name: Type.Optional(Type.String()),
  click_through: Type.Integer({ description: "events attributed to a click in the 28 days before" }),
  view_through: Type.Integer({ description: "events attributed to an impression in the day before, because the 28 days before had no click" }),
  cross_campaign: Type.Integer(),
  cross_device: Type.Integer(),
  sums,
});

const touchInput = Type.Object(
  {
    ad: { ...worldId, description: "the id of the ad" },
    advertiser_id: Type.Optional(Type.String({ minLength: 1, description: "advertising id of the device" })),
    attribution: Type.Optional(Type.String({ minLength: 1, description: "mobile cookie of the device" })),
    ud: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "hashed person keys: em, ph, external_id" })),
    time: Type.Optional(time),
  },
  { additionalProperties: false },
);

async function readReport(request: ControlRequest<Static<typeof spanQuery>>): Promise<unknown> {
  const app = await appOf(request);
  const { since, until } = spanOf(request.query, unixSeconds(request.world.clock));
  return { since, until, data: await reportOf(request.world, app, since, until) };
}

const deviceQuery = Type.Object({
  advertiser_id: Type.Optional(Type.String({ minLength: 1, description: "advertising id of the device" })),
  attribution: Type.Optional(Type.String({ minLength: 1, description: "mobile cookie of the device, instead of advertiser_id" })),
});

const deviceTouch = Type.Object({
  id: Type.String(),
  kind: Type.Unsafe<Touch["kind"]>({ enum: ["click", "impression"] }),
  time: seconds,
  until: Type.Integer({ description: "Unix seconds until which events can be attributed to the click or impression" }),
  ad_id: Type.String(),
  campaign_id: Type.String(),
  objective: Type.String(),
  claims: Type.Boolean({ description: "whether events of this app can be attributed to the ad" }),
});

const deviceEvent = Type.Object({
  event,
  event_name: Type.Optional(Type.String()),
  event_time: seconds,
  tracked: Type.Boolean({ description: "false: the event has `advertiser_tracking_enabled` 0 and cannot be attributed to an ad" }),
  due_to: Type.Optional(
    Type.String({ description: "the id of the click or impression that the event is attributed to; absent if the event is attributed to neither" }),
  ),
  cross_campaign: Type.Optional(Type.Boolean()),
  cross_device: Type.Optional(Type.Boolean()),
});

async function readDevice(request: ControlRequest<Static<typeof deviceQuery>>): Promise<unknown> {
  const device = await deviceOf(request.world, await appOf(request), request.query);
  if (device === undefined) throw badRequest("advertiser_id or attribution is required", "advertiser_id");
  return device;
}

export interface TouchInput {
  readonly ad: string;
  readonly advertiser_id?: string | undefined;
  readonly attribution?: string | undefined;
  readonly ud?: Readonly<Record<string, string>> | undefined;
  readonly time: number;
}

/**
 * Returns the identities (device ids and persons) that a touch names. The list is empty if the touch has no device id, no cookie, and no hash that
 * identifies a person.
 */
function identitiesOfTouch({ advertiser_id, attribution, ud = {} }: TouchInput): string[] {
  const hashed = Object.fromEntries(Object.entries(ud).filter(([, value]) => isHashed(value)));
  return [...deviceIdentities({ advertiser_id, attribution }), ...personsOf(readUserData(hashed).kept)];
}

export async function recordTouch(world: World, kind: Touch["kind"], touch: TouchInput): Promise<NodeId> {
  const id = world.ids.mint();
  await world.database.write((tx) => insertTouch(tx, { id, ad: touch.ad, kind, time: touch.time, identities: identitiesOfTouch(touch) }));
  return id;
}

const handleTouch =
  (kind: Touch["kind"]) =>
  async ({ world, body }: ControlRequest<unknown, Static<typeof touchInput>>): Promise<unknown> => {
    if ((await world.findNode(body.ad))?.type !== "ad") throw unprocessable(`ad refers to ${body.ad}, but this world has no such ad`, "ad");
    const touch = { ...body, time: body.time ?? unixSeconds(world.clock) };
    if (identitiesOfTouch(touch).length === 0)
      throw badRequest("advertiser_id, attribution or a hashed em, ph or external_id in ud is required", "advertiser_id");
    return { id: await recordTouch(world, kind, touch) };
  };

const touchRoute = (kind: Touch["kind"], edge: string, operation: string): ControlRoute =>
  route(`POST /v1/worlds/{w}/attribution/${edge}`, operation, {
    summary: `Records ${kind === "click" ? "a click on" : "an impression of"}an ad (default time: now)`,
    body: touchInput,
    status: 201,
    response: Type.Object({ id: Type.String() }),
    errors: [422],
    handle: handleTouch(kind),
  });

export const attributionControlRoutes: readonly ControlRoute[] = [
  route(`GET ${APP}/report`, "readAttributionReport", {
    summary: "Counts the events attributed to ads, in the model of ads reporting: within 28 days after a click, or 1 day after an impression",
    query: spanQuery,
    response: Type.Object({ since: seconds, until: seconds, data: Type.Array(reportRow) }),
    handle: readReport,
  }),
  route(`GET ${APP}/device`, "readDevice", {
    summary:
      "Reads a device by one of its ids: its clicks and impressions, its newest 200 events, and the click or impression to which each event is attributed, as in `app_attribution` with `consider_views`",
    query: deviceQuery,
    response: Type.Object({
      ids: Type.Array(Type.String(), { description: "all ids of the device" }),
      touches: Type.Array(deviceTouch, {
        description: "clicks and impressions of the device, its persons and their other devices, the oldest first",
      }),
      events: Type.Array(deviceEvent, { description: "events of the device, the newest first" }),
    }),
    handle: readDevice,
  }),
  touchRoute("click", "clicks", "recordClick"),
  touchRoute("impression", "impressions", "recordImpression"),
];
