/** Draws steps about live videos and their audience, and about changes by encoders and operators. */
import fc, { type Arbitrary } from "fast-check";
import { body, callers, fields, list, node, oneOf, request, text, world } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";
import { NOW } from "./world-file.ts";

const page: Arbitrary<NodeName> = oneOf<NodeName>([6, fc.constant({ id: "2001" })], [2, fc.constant({ id: "2002" })], [1, fc.constant({ id: "me" })]);
const video: Arbitrary<NodeName> = oneOf<NodeName>([12, node("live_video")], [4, fc.constantFrom({ id: "5305" }, { id: "5301" })]);
const tokens = callers("any", ["cafe-page", "cafe-page", "cafe-page", "ada-user", "bar-page", "ben-user-without-messaging"]);
const maybe = (value: Arbitrary<Value>, weight = 5): Arbitrary<Value> => oneOf<Value>([weight, fc.constant(undefined)], [1, value]);

const start: Arbitrary<Value> = oneOf<Value>(
  [
    6,
    fc.constantFrom<Value>(NOW + 60, NOW + 3_600, String(NOW + 90_000), new Date((NOW + 200_000) * 1000).toISOString(), "2027-01-01T10:00:00+0200"),
  ],
  [1, fc.constantFrom<Value>(NOW - 1, NOW, "soon", "2027-02-30T00:00:00Z", "")],
);
const place: Arbitrary<Value> = fc.constantFrom<Value>(
  ...[
    "9901",
    "2002",
    { id: "9901" },
    { location: { latitude: 52.5, longitude: -13.4 } },
    { id: "2001", location: { latitude: -90, longitude: 180 } },
  ],
  ...[null, "", "9999999", { location: { latitude: 91, longitude: 0 } }, {}],
);
const targeting: Arbitrary<Value> = fc.constantFrom<Value>(
  ...[{ geo_locations: { countries: ["DE"] } }, { geo_locations: { countries: ["DE", "FR"] }, excluded_countries: ["FR"] }, {}],
  ...[{ excluded_countries: ["US"] }, { geo_locations: { countries: ["XX"] } }, { geo_locations: { cities: ["DE"] } }, { age_min: 18 }],
);
const crossposting: Arbitrary<Value> = fc
  .record({ page_id: fc.constantFrom("2001", "2002", "2002", "9999999"), action: fc.constantFrom("enable_crossposting", "disable_crossposting") })
  .map((action) => [action]);

const common = {
  title: maybe(oneOf<Value>([6, text(30)], [1, fc.constantFrom("x".repeat(255), "é".repeat(256))])),
  description: maybe(oneOf<Value>([4, text(30)], [1, fc.constantFrom("x".repeat(5_000), "x".repeat(5_001))]), 8),
  embeddable: maybe(oneOf<Value>([6, fc.boolean()], [1, fc.constant("yes")])),
  place: maybe(place, 3),
  targeting: maybe(targeting),
  crossposting_actions: maybe(crossposting, 4),
  planned_start_time: maybe(start, 4),
  boosted: maybe(fc.constant(false), 12),
  ad_break: maybe(fc.constant("x"), 60),
};
const plans = ["LIVE_NOW", "LIVE", "SCHEDULED_LIVE", "SCHEDULED_UNPUBLISHED", "SCHEDULED_CANCELED", "UNPUBLISHED", "VOD"];
const shown = fields(
  ...["id", "title", "status", "embeddable", "embed_html", "place", "place{id}", "targeting", "planned_start_time", "creation_time"],
  ...["broadcast_start_time", "permalink_url", "page", "page{id}", "crossposted_pages", "stream_key", "takedown_reason", "restorable_until"],
);

/** A planned video with its start time, drawn together so that most plans are valid; or any values. */
const planned = fc.record({ status: fc.constantFrom("SCHEDULED_LIVE", "SCHEDULED_UNPUBLISHED"), planned_start_time: start });

const making: Arbitrary<Step> = request({
  ...{ operation: "createLiveVideo", method: "POST", node: page, edge: "live_videos", tokens },
  query: fc.record({ fields: maybe(shown as Arbitrary<Value>, 4) }),
  body: oneOf(
    [2, body({ ...common, status: maybe(fc.constantFrom(...plans), 1) })],
    [1, planned.map((drawn) => ({ kind: "json" as const, fields: drawn }))],
  ),
});

const changing = (drawn: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<Step> =>
  request({
    ...{ operation: "updateLiveVideo", method: "POST", node: video, edge: "", tokens },
    query: fc.record({ fields: maybe(shown as Arbitrary<Value>, 4) }),
    body: body(drawn),
  });

const outside = (what: Extract<Step, { kind: "live" }>["what"], drawn: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<Step> =>
  fc.record({ kind: fc.constant("live" as const), world, what: fc.constant(what), video, fields: fc.record(drawn) });

const fromOutside: Arbitrary<Step> = oneOf<Step>(
  [4, outside("ingest", { event: fc.constantFrom("started", "started", "lost", "ended", "no_audio"), withKey: fc.boolean() })],
  [2, outside("sealing", { fails: fc.boolean() })],
  [2, outside("takedown", { reason: fc.constantFrom(undefined, "COPYRIGHT", "INTELLECTUAL_PROPERTY") })],
  [2, outside("restore", {})],
  [1, outside("restore-notice", {})],
);

const advance: Arbitrary<Step> = fc.record({
  ...{ kind: fc.constant("advance" as const), world },
  seconds: fc.constantFrom(4, 5, 150, 151, 600, 3_600, 86_400, 604_800),
});

/**
 * A video that the live map shows, because it is live and has a geographic place. If the request names no country, the live map has the videos that
 * every country may see.
 */
const placed: Arbitrary<Step> = request({
  ...{ operation: "updateLiveVideo", method: "POST", node: fc.constantFrom({ id: "5302" }, { id: "5305" }), edge: "" },
  tokens: fc.constantFrom({ header: "cafe-page" }, { header: "bar-page" }),
  body: body({
    place: fc.constant("9901"),
    targeting: fc.constantFrom({ geo_locations: { countries: ["DE"] } }, { excluded_countries: ["US"] }, {}),
  }),
});

export const liveSteps: Arbitrary<Step> = oneOf<Step>(
  [4, making],
  [3, changing({ ...common, status: maybe(fc.constantFrom(...plans), 3) })],
  [3, changing({ status: fc.constantFrom("LIVE_NOW", "LIVE", "SCHEDULED_CANCELED") })],
  [2, changing({ end_live_video: fc.constantFrom<Value>(true, "true", 1, false, "maybe") })],
  [1, changing({ regenerate_stream_key: fc.constantFrom<Value>(true, "true", false) })],
  [1, changing({ end_live_video: fc.boolean(), regenerate_stream_key: fc.boolean(), status: maybe(fc.constant("LIVE")) })],
  [4, request({ operation: "readLiveVideo", method: "GET", node: video, edge: "", tokens, query: fc.record({ fields: shown }) })],
  [1, request({ operation: "deleteLiveVideo", method: "DELETE", node: video, edge: "", tokens })],
  [3, list({ operation: "listLiveVideos", node: page, edge: "live_videos", tokens }, { fields: shown })],
  [
    2,
    list(
      { operation: "listLiveMap", node: fc.constant({ id: "live_map" }), edge: "", tokens },
      { fields: fields("id", "title", "place", "page{name}", "permalink_url"), country: maybe(fc.constantFrom("DE", "FR", "US", "XX"), 2) },
    ),
  ],
  [2, placed],
  [5, fromOutside],
  [2, advance],
);

const message: Arbitrary<Value> = oneOf<Value>(
  [8, text(30)],
  [1, fc.constantFrom<Value>("", "x".repeat(8_000), "x".repeat(8_001), undefined, ["x"])],
);
const type: Arbitrary<Value> = oneOf<Value>([8, fc.constantFrom("LIKE", "LOVE", "WOW", "ANGRY")], [1, fc.constantFrom<Value>("like", undefined)]);
const published: Arbitrary<NodeName> = oneOf<NodeName>([4, fc.constantFrom({ id: "5302" }, { id: "5305" })], [2, video]);

export const audienceSteps: Arbitrary<Step> = oneOf<Step>(
  [3, request({ operation: "createLiveComment", method: "POST", node: published, edge: "comments", tokens, body: body({ message }) })],
  [3, request({ operation: "createLiveReaction", method: "POST", node: published, edge: "reactions", tokens, body: body({ type }) })],
  [3, list({ operation: "listLiveComments", node: published, edge: "comments", tokens }, { fields: fields("id", "message", "from", "from{id}") })],
  [3, list({ operation: "listLiveReactions", node: published, edge: "reactions", tokens }, { fields: fields("id", "type", "from{name}") })],
  [1, fromOutside],
);
