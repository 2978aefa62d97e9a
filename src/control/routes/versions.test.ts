import { expect, test } from "bun:test";
import { standardCalendar } from "#graph/versions/calendar";
import { openControl } from "#harness/control";

const entry = (path: string, operation: string) => ({
  ...{ trace_id: path, operation, method: "GET", surface: "ads", path, query: "", status: 200, time: 1_795_000_000_000, duration_ms: 1, app: "1001" },
  ...{ request_body: "", response_body: "" },
});

test("the calendar is read with the end of each version", async () => {
  const { request } = await openControl();
  const { body } = await request("GET", "versions");
  expect(body.platform.at(-1)).toEqual({ version: "v26.0", released: standardCalendar.platform.at(-1)?.released });
  expect(body.marketing).toHaveLength(standardCalendar.marketing.length);
  expect(body.marketing[0].until).toBe(standardCalendar.marketing[0]?.until);
});

test("requests that a later date refuses or upgrades are found in advance", async () => {
  const now = Date.parse("2026-10-01") / 1000;
  const platform = [{ version: 25, released: 0 }];
  const marketing = [
    { version: 24, released: 0, until: now + 86_400, affects: [] },
    { version: 25, released: 1_000, until: undefined, affects: [] },
  ];
  const { request, plaza } = await openControl({ calendar: { ...standardCalendar, platform, marketing }, world: WORLD });
  const operation = plaza.registry.endpoints.find(({ access }) => access.versions === "marketing")?.access.operation ?? "";
  plaza.time.realMs = now * 1000;
  for (const at of ["v24.0", "v24.0", "v25.0"]) plaza.world.requests.add(entry(`/${at}/1001/x`, operation));
  const shown = (await request("GET", `versions/outlook?at=${now + 2 * 86_400}`)).body.data;
  expect(shown).toEqual([
    { app: "1001", operation, asked: "v24.0", count: 2, served_now: "v24.0", served_then: "v25.0" },
    { app: "1001", operation, asked: "v25.0", count: 1, served_now: "v25.0", served_then: "v25.0" },
  ]);
  await request("PATCH", "nodes/apps/1001", { auto_upgrade: false });
  const [refused] = (await request("GET", `versions/outlook?at=${now + 2 * 86_400}`)).body.data;
  expect(refused).toMatchObject({ served_now: "v24.0", refusal: expect.stringContaining("automatic upgrade off") });
  expect(refused.served_then).toBeUndefined();
  expect((await request("GET", "versions/outlook?at=soon")).status).toBe(400);
});

test("the outlook is for now by default, sorted by the number of requests; refused requests have no version", async () => {
  const now = Date.parse("2026-10-01") / 1000;
  const marketing = [
    { version: 24, released: 0, until: now, affects: [] },
    { version: 25, released: 1_000, until: undefined, affects: [] },
  ];
  const apps = [{ id: "1001", created_time: 0, marketing_first_used_time: 1, auto_upgrade: false }];
  const { request, plaza } = await openControl({
    calendar: { ...standardCalendar, platform: [{ version: 25, released: 0 }], marketing },
    world: { apps },
  });
  const operation = plaza.registry.endpoints.find(({ access }) => access.versions === "marketing")?.access.operation ?? "";
  plaza.time.realMs = now * 1000;
  for (const at of ["/v24.0", "/v25.0", "/v25.0", ""]) plaza.world.requests.add(entry(`${at}/1001/x`, operation));
  const { data, paging } = (await request("GET", "versions/outlook")).body;
  expect(paging).toEqual({});
  expect(data.map(({ count }: { count: number }) => count)).toEqual([2, 1, 1]);
  expect(data[0]).toEqual({ app: "1001", operation, asked: "v25.0", count: 2, served_now: "v25.0", served_then: "v25.0" });
  const refused = data.find(({ asked }: { asked?: string }) => asked === "v24.0");
  expect(Object.keys(refused).sort()).toEqual(["app", "asked", "count", "operation", "refusal"]);
  expect(data.some((one: object) => !("asked" in one))).toBe(true);
});

const WORLD = { apps: [{ id: "1001", created_time: 0, marketing_first_used_time: 1, auto_upgrade: true }] };
