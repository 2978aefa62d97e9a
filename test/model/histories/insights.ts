/** Draws steps about the insights of the microblog. */
import fc, { type Arbitrary } from "fast-check";
import { callers, node, oneOf, request, world } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";
import { NOW } from "./world-file.ts";

const DAY = 86_400;
const good = ["talk", "talk", "talk", "outsider", "talk-without-scopes"];
const midnight = Math.floor(NOW / DAY) * DAY;

/** The times of counts, at which ranges of insights also begin and end. */
const moment = fc.constantFrom(
  NOW - 1,
  NOW,
  NOW + 1,
  NOW + 4_000,
  midnight,
  midnight - 1,
  midnight - DAY,
  midnight - 5 * DAY,
  NOW - 100_000,
  NOW - 99_999,
);

const metrics = (known: readonly string[]): Arbitrary<Value> =>
  oneOf<Value>(
    [12, fc.subarray([...known], { minLength: 1, maxLength: 3 }).map((some) => some.join(","))],
    [2, fc.subarray([...known], { minLength: 1 }).map((some) => JSON.stringify(some))],
    [1, fc.constantFrom<Value>("Views", "", undefined, "views,stars", "[")],
  );

const edge: Arbitrary<Value> = oneOf<Value>([4, fc.constant(undefined)], [4, moment], [1, fc.constantFrom<Value>(-1, "soon", 1_712_991_599, 5)]);
const demographics = fc.record({
  metric: fc.constant("follower_demographics"),
  breakdown: fc.constantFrom(undefined, "country", "city", "age", "x"),
});
const counted = { target: fc.constantFrom("7001", "7001", "7101"), value: fc.integer({ min: 0, max: 1_000 }), time: moment };
const user: Arbitrary<NodeName> = oneOf<NodeName>([10, fc.constant({ id: "7001" })], [2, node("microblog_user")], [1, fc.constant({ id: "me" })]);
const common = { method: "GET", surface: "microblog", version: null, tokens: callers("query", good) } as const;
const ofUser = { ...common, operation: "readUserInsights", node: user, edge: "microblog_insights" } as const;
const OF_USER = ["views", "likes", "replies", "clicks", "followers_count", "quotes"];

export const insightSteps: Arbitrary<Step> = oneOf<Step>(
  [
    3,
    request({
      ...{ ...common, operation: "readMediaInsights", edge: "insights" },
      node: oneOf<NodeName>([6, fc.constant({ id: "7101" })], [2, node("microblog_media")]),
      query: fc.record({ metric: metrics(["views", "likes", "replies", "reposts", "quotes", "shares"]) }),
    }),
  ],
  [7, request({ ...ofUser, query: fc.record({ metric: metrics(OF_USER), since: edge, until: edge }) })],
  [3, request({ ...ofUser, query: demographics })],
  [1, request({ ...ofUser, query: fc.record({ metric: fc.constant("views,follower_demographics"), since: edge }) })],
  [
    4,
    fc
      .record({ ...counted, metric: fc.constantFrom("views", "views", "likes", "replies", "quotes") })
      .chain((activity) => fc.record({ kind: fc.constant("record" as const), world, entry: fc.constant({ activity }) })),
  ],
  [
    2,
    fc
      .record({
        ...counted,
        target: fc.constant("7001"),
        metric: fc.constant("clicks"),
        link_url: fc.constantFrom("https://example.com/a", "https://b.example"),
      })
      .chain((activity) => fc.record({ kind: fc.constant("record" as const), world, entry: fc.constant({ activity }) })),
  ],
  [
    2,
    fc
      .record({
        ...{ microblog_user: fc.constant("7001"), country: fc.constantFrom("DE", "FR", "US"), city: fc.constantFrom("Berlin", "Köln", "") },
        ...{ age: fc.constantFrom("18-24", "25-34"), gender: fc.constantFrom("F", "M", "U"), count: fc.nat({ max: 20 }), time: moment },
      })
      .chain((followers) => fc.record({ kind: fc.constant("record" as const), world, entry: fc.constant({ followers }) })),
  ],
);
