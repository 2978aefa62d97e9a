import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { secondsAround } from "#harness/time/seconds";
import { nodeId } from "#kernel/ids";
import { saveRetentionDays } from "./app-events.jobs.ts";
import { appEvents } from "./index.ts";

const NOW = 1_795_000_000;
const DAY = 86_400;
const APPS = ["1001", "1002"] as const;
type App = (typeof APPS)[number];
const EM = createHash("sha256").update("ada@example.com").digest("hex");
const COOKIE = "x".repeat(22);

const world = {
  clock: { now: NOW, frozen: true },
  // Each app may use two of the three event names.
  apps: APPS.map((id) => ({ id, name: "Shop", secret: "s", event_name_limit: 2 })),
  ads: APPS.map((app) => ({ id: `85${app}`, app, campaign_id: "9501" })),
};

const device = fc.constantFrom<Record<string, unknown>>(
  { advertiser_id: "a" },
  { advertiser_id: "a", attribution: COOKIE },
  { attribution: COOKIE },
  { advertiser_id: "b", ud: { em: EM } },
  { advertiser_id: "a", ud: { em: EM } },
);
const event = fc.record({
  _eventName: fc.constantFrom("buy", "menu opened", "third"),
  event_id: fc.constantFrom("1", "2", undefined),
  _valueToSum: fc.constantFrom(1, "0.5", undefined),
  _logTime: secondsAround(NOW, DAY, [NOW - 2 * DAY, NOW]),
});
/** A step of a history of two apps. Only a step that moves the clock concerns both apps. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("events" as const), device, events: fc.array(event, { minLength: 1, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("install" as const), device }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deactivate" as const), name: fc.constantFrom("buy", "third") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("days" as const), days: fc.integer({ min: 1, max: 3 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const history = fc.array(fc.tuple(fc.constantFrom(...APPS), step), { minLength: 1, maxLength: 25 });

const buy: Step = {
  kind: "events",
  device: { advertiser_id: "a" },
  events: [{ _eventName: "buy", event_id: undefined, _valueToSum: 1, _logTime: NOW }],
};
const install: Step = { kind: "install", device: { advertiser_id: "a" } };
const days = (count: number): Step => ({ kind: "days", days: count });
/**
 * Histories that random choice seldom makes: a removed app whose devices another app has, and requests with equal numbers that expire on different
 * days.
 */
const examples: [[App, Step][]][] = [
  [[...APPS.map((app): [App, Step] => [app, install]), ["1001", { kind: "remove" }], ["1002", install], ["1001", install]]],
  [
    [
      ["1001", buy],
      ["1001", days(2)],
      ["1002", buy],
      ["1001", days(2)],
      ["1002", buy],
    ],
  ],
];

/** Runs the steps, and returns the responses to each app's requests and the responses about the app afterwards. */
async function play(database: "sqlite" | "postgres", steps: readonly (readonly [App, Step])[], apps: readonly App[]) {
  const { plaza, request, app: control } = await openControl({ database, world });
  const { clock, work, database: store } = plaza.world;
  await saveRetentionDays(plaza.world, 3);
  const results = new Map<App, unknown[]>(APPS.map((app) => [app, []]));
  const report = async (app: App, body: Record<string, unknown>) => {
    const response = await plaza.post(`/v26.0/${app}/activities`, { bearer: `${app}|s`, headers: { "x-forwarded-for": "1.2.3.4" }, body });
    results.get(app)?.push({ status: response.status, parameter: response.body.error?.error_data });
  };
  const play = async (app: App, one: Step): Promise<void> => {
    if (one.kind === "events") await report(app, { event: "CUSTOM_APP_EVENTS", ...one.device, custom_events: one.events });
    if (one.kind === "install") await report(app, { event: "MOBILE_APP_INSTALL", ...one.device });
    if (one.kind === "deactivate") results.get(app)?.push((await request("POST", `app-events/${app}/names/${one.name}/deactivate`)).status);
    if (one.kind === "remove") await store.write(async (tx) => appEvents.onOwnerDeleted?.(tx, nodeId(app), plaza.world));
  };
  // Successive requests of different apps arrive together; the requests of one app arrive in their order.
  const together = new Map<App, Promise<void>>();
  const settle = async () => {
    await Promise.all(together.values());
    together.clear();
  };
  for (const [app, one] of steps) {
    const isReport = one.kind === "events" || one.kind === "install";
    if (together.has(app) || !isReport) await settle();
    if (one.kind === "days") {
      await clock.set(clock.nowMs() + one.days * DAY * 1_000, true);
      await work.runDue();
    } else if (apps.includes(app)) together.set(app, play(app, one));
    if (!isReport) await settle();
  }
  await settle();
  const responses = new Map<App, unknown>();
  for (const app of apps) {
    await request("POST", "attribution/clicks", { ad: `85${app}`, advertiser_id: "a", time: NOW - 3 * DAY });
    const read = async (path: string) => (await request("GET", `app-events/${app}${path}`)).body.data;
    const attribution = (query: object) => plaza.get(`/v26.0/${app}/app_attribution`, { bearer: `${app}|s`, query: { limit: 100, ...query } });
    responses.set(app, {
      results: results.get(app),
      log: await read("?limit=1000"),
      named: await read("?name=buy"),
      export: await (await control.request(`/v1/worlds/default/app-events/${app}/export`, { headers: { authorization: `Bearer ${KEY}` } })).text(),
      names: await read("/names"),
      sums: await read("/sums?since=0"),
      report: await read("/report"),
      tests: await read("/test-events"),
      attribution: [(await attribution({ advertiser_id: "a" })).body.data, (await attribution({ attribution: COOKIE })).body.data],
    });
  }
  await plaza.close();
  return responses;
}

onEachDatabase("two apps in one world", (database) => {
  test("an app's requests and responses are the same with another app beside it as alone", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const both = await play(database, steps, APPS);
        for (const app of APPS) {
          const alone = await play(database, steps, [app]);
          expect(both.get(app)).toEqual(alone.get(app));
        }
      }),
      { numRuns: database === "sqlite" ? 25 : 5, examples },
    );
  }, 120_000);
});
