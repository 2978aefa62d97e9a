/** Draws steps of histories that concern app events. */
import fc, { type Arbitrary } from "fast-check";
import { body, callers, oneOf, request, world } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";
import { NOW } from "./world-file.ts";

const app: Arbitrary<NodeName> = oneOf<NodeName>([8, fc.constant({ id: "1001" })], [2, fc.constant({ id: "1002" })]);
const rare = (value: Arbitrary<Value>, weight = 12): Arbitrary<Value> => oneOf<Value>([weight, fc.constant(undefined)], [1, value]);

const NAMES = ["level up", "buy-1", "_x", "pf_mobile_purchase", "pf_mobile_activate_app", "A", "B", "C", "d".repeat(40)];
const name: Arbitrary<Value> = oneOf<Value>(
  [24, fc.constantFrom(...NAMES)],
  [1, fc.constantFrom<Value>("", "d".repeat(41), "-a", " a", "é", undefined, ["A"])],
);
const amount: Arbitrary<Value> = oneOf<Value>(
  [6, fc.constant(undefined)],
  [8, fc.constantFrom<Value>(1, 2.5, "0012.5", -3, "-0.1", "0.0000005", "0.0000015", "21.970001", 999_999_999_999, "000000999999999999.9999999")],
  [1, fc.constantFrom<Value>(1_000_000_000_000, "abc", true, "")],
);
const time: Arbitrary<Value> = oneOf<Value>(
  [6, fc.constant(undefined)],
  [6, fc.integer({ min: -8, max: 8 }).map((half) => NOW + half * 43_200)],
  [1, fc.constantFrom<Value>(String(NOW), NOW + 172_799, NOW - 172_800, 300_000_000_000, 253_402_300_799, 0, -1, "-1", "soon")],
);
const flag: Arbitrary<Value> = oneOf<Value>([12, fc.constantFrom<Value>(0, 1, "1")], [1, fc.constantFrom<Value>(2, "yes", true)]);
const many = Object.fromEntries(Array.from({ length: 26 }, (_, place) => [`p${place}`, "x"]));

const event: Arbitrary<Value> = fc
  .record({
    ...{ _eventName: name, event_id: fc.constantFrom<Value>(undefined, "e1", "e1", "e2"), _valueToSum: amount, _logTime: time },
    pf_currency: oneOf<Value>([3, fc.constantFrom<Value>("EUR", "USD", undefined)], [1, fc.constantFrom<Value>("EUR", "EURO")]),
    color: rare(fc.constantFrom<Value>("red", "x".repeat(100), "x".repeat(101))),
    pf_success: rare(fc.constantFrom<Value>(1, "1", "TRUE", false, "maybe")),
    pf_num_items: rare(fc.constantFrom<Value>(3, "3", "three")),
    advertiser_tracking_enabled: rare(flag),
    more: rare(fc.constant(many), 20),
  })
  .map(({ more, ...rest }) => ({ ...rest, ...(more as object | undefined) }));

const device: Arbitrary<Value> = oneOf<Value>(
  [
    10,
    fc.constantFrom<Value>("38400000-8cf0-11bd-b23e-10b96e40000d", "38400000-8CF0-11BD-B23E-10B96E40000D", "48400000-8cf0-11bd-b23e-10b96e40000d"),
  ],
  [2, fc.constant(undefined)],
  [1, fc.constant("00000000-0000-0000-0000-000000000000")],
);
const cookie: Arbitrary<Value> = oneOf<Value>(
  [6, fc.constant(undefined)],
  [3, fc.constantFrom<Value>("abcdefghijklmnopqrstuv", "ABCDEFGHIJKLMNOPQRSTUV", "58400000-8cf0-11bd-b23e-10b96e40000d")],
  [1, fc.constant("short")],
);

const headers = oneOf<Record<string, string>>(
  [14, fc.constantFrom({ "x-forwarded-for": "203.0.113.7" }, { "x-forwarded-for": "2001:db8::1" })],
  [1, fc.constant({})],
  [1, fc.constant({ "x-forwarded-for": "nonsense" })],
);

const common = { operation: "reportAppEvents", method: "POST", node: app, edge: "activities", headers } as const;
const flags = { application_tracking_enabled: flag, advertiser_tracking_enabled: flag };
const tokens = callers("any", ["shop-app", "shop-app", "1001|s3cret", "other-app"]);

export const appEventSteps: Arbitrary<Step> = oneOf<Step>(
  [
    8,
    request({
      ...{ ...common, tokens },
      body: body({
        ...{ event: oneOf<Value>([20, fc.constant("CUSTOM_APP_EVENTS")], [1, fc.constantFrom<Value>("X", undefined)]), ...flags },
        ...{ advertiser_id: device, attribution: cookie },
        custom_events: oneOf<Value>([20, fc.array(event, { minLength: 1, maxLength: 4 })], [1, fc.constantFrom<Value>("{", undefined, "x")]),
      }),
    }),
  ],
  // Correct app events, whose names repeat and reach the limit of names.
  [
    8,
    request({
      ...{ ...common, headers: { "x-forwarded-for": "203.0.113.7" }, tokens: fc.constantFrom({ header: "shop-app" }, { header: "other-app" }) },
      body: body({
        ...{ event: fc.constant("CUSTOM_APP_EVENTS"), advertiser_id: fc.constant("38400000-8cf0-11bd-b23e-10b96e40000d") },
        custom_events: fc.array(
          fc.record({ _eventName: fc.constantFrom("A", "A", "B", ...NAMES), event_id: fc.constantFrom("e1", "e2"), pf_currency: fc.constant("EUR") }),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    }),
  ],
  [3, request({ ...common, tokens, body: body({ event: fc.constant("MOBILE_APP_INSTALL"), ...flags, advertiser_id: device, attribution: cookie }) })],
  [
    2,
    fc.record({
      ...{ kind: fc.constant("events" as const), world, app: fc.constantFrom("1001", "1002") },
      since: fc.constantFrom(0, 0, NOW - 43_200, NOW),
      deactivate: oneOf<string | undefined>([1, fc.constant(undefined)], [1, fc.constantFrom("A", "A", "B", "level up")]),
    }),
  ],
);
