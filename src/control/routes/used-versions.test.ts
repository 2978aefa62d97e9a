/** Tests which requests count as requests of an app, and which version would serve the requests at another time. */
import { expect, test } from "bun:test";
import { standardCalendar } from "#graph/versions/calendar";
import { openControl } from "#harness/control";
import { GraphError } from "#kernel/errors";
import { usedVersions } from "./used-versions.ts";

const DAY = 86_400;
const NOW = 1_795_000_000;

const marketing = [
  { version: 24, released: 0, until: NOW + DAY, affects: [] },
  { version: 25, released: 1_000, until: undefined, affects: [] },
];
const calendar = { ...standardCalendar, platform: [{ version: 25, released: 0 }], marketing };
const world = {
  apps: [
    { id: "1001", created_time: 0, marketing_first_used_time: 1, auto_upgrade: true },
    { id: "1002", created_time: 0, marketing_first_used_time: 1, auto_upgrade: false },
  ],
};

async function open() {
  const { plaza } = await openControl({ calendar, world });
  const [first, second] = plaza.registry.endpoints.filter(({ access }) => access.versions === "marketing").map(({ access }) => access.operation);
  const entry = (path: string, more: object = {}) => ({
    ...{ trace_id: path, operation: first as string, method: "GET", surface: "ads", path, query: "", status: 200, time: NOW * 1_000, duration_ms: 1 },
    ...{ app: "1001", request_body: "", response_body: "" },
    ...more,
  });
  const used = (...entries: ReturnType<typeof entry>[]) => usedVersions(plaza.world, plaza.registry, entries as never);
  return { entry, used, first: first as string, second: second as string };
}

test("requests of one app for one operation in one version are one use, in the order of the first request", async () => {
  const { entry, used, first, second } = await open();
  const found = await used(
    entry("/v25.0/1001/x"),
    entry("/v24.0/1001/x"),
    entry("/v25.0/1001/y"),
    entry("/v25.0/1001/x", { operation: second }),
    entry("/v25.0/1001/x", { app: "1002" }),
    entry("/1001/x"),
  );
  expect(found.map(({ app, operation, asked, entries }) => [app, operation, asked, entries.length])).toEqual([
    ["1001", first, "v25.0", 2],
    ["1001", first, "v24.0", 1],
    ["1001", second, "v25.0", 1],
    ["1002", first, "v25.0", 1],
    ["1001", first, undefined, 1],
  ]);
});

test("requests of a missing app, or of no operation, are not a use", async () => {
  const { entry, used } = await open();
  const path = "/v25.0/1001/x";
  const others = [{ app: undefined }, { app: "9" }, { app: "no id" }, { operation: "unknown" }];
  expect(await used(...others.map((more) => entry(path, more)))).toEqual([]);
  expect(await used(...others.map((more) => entry(path, more)), entry(path))).toHaveLength(1);
});

test("an ended version is served by the next one if the app allows it, and refused otherwise", async () => {
  const { entry, used } = await open();
  const [upgraded, refused] = await used(entry("/v24.0/1001/x"), entry("/v24.0/1001/x", { app: "1002" }));
  expect([upgraded?.servedAt(NOW), upgraded?.servedAt(NOW + 2 * DAY)]).toEqual(["v24.0", "v25.0"]);
  expect(refused?.servedAt(NOW)).toBe("v24.0");
  expect(refused?.servedAt(NOW + 2 * DAY)).toBeInstanceOf(GraphError);
});
