/**
 * Steps on the results of ads: touches of ads, events of devices and of persons who are linked to devices, and the ad to which each event is
 * attributed.
 */
import fc, { type Arbitrary } from "fast-check";
import { body, callers, fields, list, oneOf, request, world } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";
import { NOW } from "./world-file.ts";

const DAY = 86_400;
const app: Arbitrary<NodeName> = oneOf<NodeName>([6, fc.constant({ id: "1001" })], [1, fc.constant({ id: "1002" })]);
const tokens = callers("any", ["shop-app", "shop-app", "shop-app", "1001|s3cret", "other-app"]);

const PHONE = "38400000-8cf0-11bd-b23e-10b96e40000d";
const COOKIE = "58400000-8cf0-11bd-b23e-10b96e40000d";
const device: Arbitrary<Value> = fc.constantFrom<Value>("a", "b", "b", "c", PHONE, PHONE.toUpperCase());
const cookie: Arbitrary<Value> = fc.constantFrom<Value>("x".repeat(22), "X".repeat(22), COOKIE, COOKIE.toUpperCase());
const person: Arbitrary<Value> = fc.constantFrom<Value>(
  ...[{ em: "a".repeat(64) }, { em: "A".repeat(64) }, { em: "b".repeat(64) }, { ph: "a".repeat(64) }, { em: "a@b", fn: "a".repeat(64) }],
);
const maybe = (value: Arbitrary<Value>, weight = 3): Arbitrary<Value> => oneOf<Value>([weight, fc.constant(undefined)], [1, value]);

/** The ids of a device: an advertising id and a cookie, or only one of the two. */
const ids = oneOf<Readonly<Record<string, Value>>>(
  [6, fc.record({ advertiser_id: device })],
  [2, fc.record({ attribution: cookie })],
  [2, fc.record({ advertiser_id: device, attribution: cookie })],
);
/** The time of a click, an impression or an event. The times are spread, so that some events are inside the attribution window of a click and some after it. */
const time: Arbitrary<number> = fc
  .constantFrom(0, -1, -3_600, -DAY, -DAY - 1, -28 * DAY, -28 * DAY - 1, -29 * DAY, -30 * DAY, -30 * DAY - 1)
  .map((offset) => NOW + offset);

const touching: Arbitrary<Step> = fc
  .record({
    what: fc.constantFrom("clicks" as const, "impressions" as const),
    ad: fc.constantFrom("8501", "8501", "8502", "8503"),
    names: oneOf<Readonly<Record<string, Value>>>([6, ids], [1, fc.constant({ ud: { em: "a".repeat(64) } })]),
    ud: maybe(fc.constantFrom<Value>({ em: "a".repeat(64) }, { em: "B".repeat(64) })),
    ...{ time, world },
  })
  .map(({ what, ad, names, ud, time: at, world: of }) => ({
    ...{ kind: "touch" as const, world: of, what },
    fields: { ...(ud === undefined ? {} : { ud }), ...names, ad, time: at },
  }));

const headers = fc.constant({ "x-forwarded-for": "203.0.113.7" });
const common = { operation: "reportAppEvents", method: "POST", node: app, edge: "activities", headers, tokens } as const;
const beside = {
  ...{ ud: maybe(person), consider_views: maybe(fc.constantFrom<Value>(true, "TRUE", false, "maybe"), 1) },
  application_tracking_enabled: maybe(fc.constantFrom(0, 1), 8),
  advertiser_tracking_enabled: maybe(fc.constantFrom(0, 1), 6),
};
const reporting = (drawn: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<Step> =>
  fc
    .tuple(ids, request({ ...common, body: body({ ...drawn, ...beside }) }))
    .map(([names, step]) => ({ ...step, body: { kind: "json" as const, ...step.body, fields: { ...step.body?.fields, ...names } } }));

/** The devices in this list never click an ad, so their installs are attributed to an ad that the devices have seen. */
const viewer = fc.constantFrom("v1", "v2", "v3", "v4");
const seeing: Arbitrary<Step> = viewer.map((advertiser_id) => ({
  ...{ kind: "touch" as const, world: 0, what: "impressions" as const, fields: { ad: "8501", time: NOW - 3_600, advertiser_id } },
}));
const ofViewer = { ...common, node: fc.constant({ id: "1001" }), tokens: fc.constant({ header: "shop-app" }) } as const;
const installing: Arbitrary<Step> = request({
  ...ofViewer,
  body: body({ event: fc.constant("MOBILE_APP_INSTALL"), advertiser_id: viewer, consider_views: fc.constantFrom(true, true, false) }),
});

const event = fc.record({ _eventName: fc.constantFrom("A", "B"), _logTime: time, advertiser_tracking_enabled: fc.constantFrom(0, 0, 1, 1) });

/** A person who clicks on one device and whose events come from another, so that attribution crosses devices and campaigns. */
const HASHED = { em: "c".repeat(64) };
const clicking: Arbitrary<Step> = fc.constantFrom("8502", "8502", "8501").map((ad) => ({
  ...{ kind: "touch" as const, world: 0, what: "clicks" as const, fields: { ad, time: NOW - 7_200, advertiser_id: "c1", ud: HASHED } },
}));
const reportingOther: Arbitrary<Step> = request({
  ...ofViewer,
  ...{ operation: "reportAppEvents", method: "POST", edge: "activities", headers },
  body: body({
    ...{ event: fc.constant("CUSTOM_APP_EVENTS"), advertiser_id: fc.constant("c2"), ud: fc.constant(HASHED) },
    custom_events: fc.constant([{ _eventName: "A", _logTime: NOW - 60 }]),
  }),
});
const listingOther: Arbitrary<Step> = request({
  ...{ operation: "listAttribution", method: "GET", node: fc.constant({ id: "1001" }), edge: "app_attribution" },
  tokens: fc.constant({ header: "shop-app" }),
  query: fc.constant({ advertiser_id: "c2" }),
});

export const attributionSteps: Arbitrary<Step> = oneOf<Step>(
  [1, clicking],
  [1, reportingOther],
  [1, listingOther],
  [4, touching],
  [4, reporting({ event: fc.constant("CUSTOM_APP_EVENTS"), custom_events: fc.array(event, { minLength: 1, maxLength: 3 }) })],
  [2, reporting({ event: fc.constant("MOBILE_APP_INSTALL") })],
  [2, seeing],
  [
    4,
    fc.record({
      ...{ kind: fc.constant("events" as const), world, app: fc.constantFrom("1001", "1001", "1002") },
      since: fc.constantFrom(0, 0, NOW - 29 * DAY, NOW - DAY, NOW),
    }),
  ],
  [2, installing],
  [
    6,
    list(
      { operation: "listAttribution", node: app, edge: "app_attribution", tokens },
      {
        advertiser_id: oneOf<Value>([8, device], [2, fc.constant(undefined)], [1, fc.constantFrom("", "00000000-0000-0000-0000-000000000000")]),
        attribution: maybe(oneOf<Value>([8, cookie], [1, fc.constantFrom("short", "")])),
        event: maybe(fc.constantFrom<Value>("MOBILE_APP_INSTALL", "CUSTOM_APP_EVENTS", "X")),
        consider_views: maybe(fc.constantFrom<Value>("true", "1", "false", "maybe"), 1),
        fields: fields("event", "event_name", "event_time", "click_time", "view_time", "ad_id"),
      },
    ),
  ],
);
