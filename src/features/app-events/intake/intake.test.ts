import { expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
import { listWaitingJobs } from "#jobs/jobs.store";
import { databaseUnreachable } from "#kernel/errors";
import { nodeId } from "#kernel/ids";
import { retention } from "../app-events.jobs.ts";
import { listEventNames } from "../log/log.handlers.ts";

const world = { apps: [{ id: "1001", name: "Shop", secret: "s" }] };

test("a full queue refuses requests with 503 and Retry-After, and every acknowledged event is counted", async () => {
  const plaza = await openPlaza({ world });
  const custom_events = Array.from({ length: 100 }, () => ({ _eventName: "n" }));
  const send = () =>
    plaza.post("/v26.0/1001/activities", {
      bearer: "1001|s",
      headers: { "x-forwarded-for": "1.2.3.4" },
      body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events },
    });
  const responses = await Promise.all(Array.from({ length: 1_300 }, send));
  const taken = responses.filter(({ status }) => status === 200);
  const refused = responses.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, headers, body } of refused) {
    expect({ status, headers, body }).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
      body: { error: { code: 2, is_transient: true } },
    });
    expect(headers.deprecation).toBeString();
  }
  const counted = async () => (await listEventNames(plaza.world, nodeId("1001")))[0]?.count;
  expect(await counted()).toBe(taken.length * 100);
  expect((await send()).status).toBe(200);
  expect(await counted()).toBe((taken.length + 1) * 100);
});

test("D-97: a queue that one app has filled takes another app's events", async () => {
  const apps = [
    { id: "1001", name: "Shop", secret: "s" },
    { id: "1002", name: "Other", secret: "o" },
  ];
  const plaza = await openPlaza({ world: { apps } });
  const custom_events = Array.from({ length: 10_000 }, () => ({ _eventName: "n" }));
  const send = async (app: string, secret: string, events: readonly object[]) =>
    plaza.post(`/v26.0/${app}/activities`, {
      bearer: `${app}|${secret}`,
      headers: { "x-forwarded-for": "1.2.3.4" },
      body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: events },
    });
  const flood = Array.from({ length: 20 }, () => send("1001", "s", custom_events));
  const other = await send("1002", "o", [{ _eventName: "n" }]);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect({ other: other.status, isRefused: statuses.includes(503), isTaken: statuses.includes(200) }).toEqual({
    other: 200,
    isRefused: true,
    isTaken: true,
  });
});

test("requests that arrive together share transactions, and each gets its own response", async () => {
  const plaza = await openPlaza({ world: { apps: [{ id: "1001", name: "Shop", secret: "s", event_name_limit: 1 }] } });
  let writes = 0;
  const { database } = plaza.world;
  const write = database.write.bind(database);
  database.write = (body) => {
    writes++;
    return write(body);
  };
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      plaza.post("/v26.0/1001/activities", {
        bearer: "1001|s",
        headers: { "x-forwarded-for": "1.2.3.4" },
        body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName: i % 10 === 3 ? "one too many" : "n" }] },
      }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, (_, i) => (i % 10 === 3 ? 400 : 200)));
  expect(writes).toBeLessThan(20);
});

onEachDatabase("a batch whose commit failed", (database) => {
  test("leaves nothing behind that was not stored: names, duplicates, the job of retention", async () => {
    const plaza = await openPlaza({ database, world: { apps: [{ id: "1001", name: "Shop", secret: "s", event_name_limit: 1 }] } });
    const store = plaza.world.database;
    const write = store.write.bind(store);
    let isUndone = true;
    store.write = (body) =>
      write(async (tx) => {
        const result = await body(tx);
        if (isUndone) throw databaseUnreachable();
        return result;
      });
    const send = (_eventName: string) =>
      plaza.post("/v26.0/1001/activities", {
        bearer: "1001|s",
        headers: { "x-forwarded-for": "1.2.3.4" },
        body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName, event_id: "e" }] },
      });
    expect(await send("undone")).toMatchObject({ status: 503, body: { error: { code: 2 } } });
    isUndone = false;
    expect((await send("n")).status).toBe(200);
    expect((await send("n")).status).toBe(200);
    expect(await listEventNames(plaza.world, nodeId("1001"))).toMatchObject([{ name: "n", count: 1 }]);
    const jobs = await listWaitingJobs(store.reader, 10);
    expect(jobs.map(({ kind }) => kind)).toContain(retention.kind);
  });
});
