/** What ads did for an app: clicks and impressions recorded, and the report that counts them. */
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
  click_through: Type.Integer({ description: "events due to a click of the 28 days before" }),
  view_through: Type.Integer({ description: "events due to an impression of the day before, where there was no click" }),
  cross_campaign: Type.Integer(),
  cross_device: Type.Integer(),
  sums,
});

const touchInput = Type.Object(
  {
    ad: worldId,
    advertiser_id: Type.Optional(Type.String({ minLength: 1 })),
    attribution: Type.Optional(Type.String({ minLength: 1, description: "mobile cookie" })),
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
  advertiser_id: Type.Optional(Type.String({ minLength: 1, description: "of the device" })),
  attribution: Type.Optional(Type.String({ minLength: 1, description: "the mobile cookie of the device, in its place" })),
});

const deviceTouch = Type.Object({
  id: Type.String(),
  kind: Type.Unsafe<Touch["kind"]>({ enum: ["click", "impression"] }),
  time: seconds,
  until: Type.Integer({ description: "the end of its window, Unix seconds" }),
  ad_id: Type.String(),
  campaign_id: Type.String(),
  objective: Type.String(),
  claims: Type.Boolean({ description: "the ad may claim events of this app" }),
});

const deviceEvent = Type.Object({
  event,
  event_name: Type.Optional(Type.String()),
  event_time: seconds,
  tracked: Type.Boolean({ description: "false: `advertiser_tracking_enabled` 0, so it is due to no ad" }),
  due_to: Type.Optional(Type.String({ description: "the id of the touch; left out where there is none" })),
  cross_campaign: Type.Optional(Type.Boolean()),
  cross_device: Type.Optional(Type.Boolean()),
});

async function readDevice(request: ControlRequest<Static<typeof deviceQuery>>): Promise<unknown> {
  const device = await deviceOf(request.world, await appOf(request), request.query);
  if (device === undefined) throw badRequest("advertiser_id or attribution is needed", "advertiser_id");
  return device;
}

export interface TouchInput {
  readonly ad: string;
  readonly advertiser_id?: string | undefined;
  readonly attribution?: string | undefined;
  readonly ud?: Readonly<Record<string, string>> | undefined;
  readonly time: number;
}

/** The devices and persons of a touch; empty when it has no device id, no cookie and no hashed person key. */
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
    if ((await world.findNode(body.ad))?.type !== "ad") throw unprocessable(`ad refers to ${body.ad}, which is no ad of this world`, "ad");
    const touch = { ...body, time: body.time ?? unixSeconds(world.clock) };
    if (identitiesOfTouch(touch).length === 0)
      throw badRequest("advertiser_id, attribution or a hashed em, ph or external_id in ud is needed", "advertiser_id");
    return { id: await recordTouch(world, kind, touch) };
  };

const touchRoute = (kind: Touch["kind"], edge: string, operation: string): ControlRoute =>
  route(`POST /v1/worlds/{w}/attribution/${edge}`, operation, {
    summary: `Records ${kind === "click" ? "a click on" : "an impression of"} an ad; the time is now unless it is given`,
    body: touchInput,
    status: 201,
    response: Type.Object({ id: Type.String() }),
    errors: [422],
    handle: handleTouch(kind),
  });

export const attributionControlRoutes: readonly ControlRoute[] = [
  route(`GET ${APP}/report`, "readAttributionReport", {
    summary: "Events due to ads by the model of ads reporting: 1-day view through 28-day click",
    query: spanQuery,
    response: Type.Object({ since: seconds, until: seconds, data: Type.Array(reportRow) }),
    handle: readReport,
  }),
  route(`GET ${APP}/device`, "readDevice", {
    summary:
      "A device by one of its ids: clicks and impressions with their windows, its newest 200 events, and the touch that each is due to, as `app_attribution` with `consider_views` says",
    query: deviceQuery,
    response: Type.Object({
      ids: Type.Array(Type.String(), { description: "all that requests and touches tie together" }),
      touches: Type.Array(deviceTouch, { description: "of the device, its persons and their other devices, the oldest first" }),
      events: Type.Array(deviceEvent, { description: "the newest first" }),
    }),
    handle: readDevice,
  }),
  touchRoute("click", "clicks", "recordClick"),
  touchRoute("impression", "impressions", "recordImpression"),
];
