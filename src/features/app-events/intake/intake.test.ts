import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { listWaitingJobs } from "#jobs/jobs.store";
import { databaseUnreachable } from "#kernel/errors";
import { nodeId } from "#kernel/ids";
import { listEventNames } from "../app-events.control.ts";
import { ensureRetention, retention } from "../app-events.jobs.ts";
import { testEventsOf } from "./test-view.ts";

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
  // The server refused the requests before it parsed their events.
  expect(
    testEventsOf(plaza.world)
      .list(nodeId("1001"))
      .some(({ verdict }) => verdict === "refused"),
  ).toBe(false);
  const counted = async () => (await listEventNames(plaza.world, nodeId("1001")))[0]?.count;
  expect(await counted()).toBe(taken.length * 100);
  expect((await send()).status).toBe(200);
  expect(await counted()).toBe((taken.length + 1) * 100);
});

test("D-97: a queue that one app has filled still accepts another app's events", async () => {
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
  test("leaves nothing behind: names, duplicates, the job of retention", async () => {
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

const APPS = ["1001", "1002", "1003", "1004", "1005", "1006"] as const;
const shops = { clock: { now: 1_795_000_000, frozen: true }, apps: APPS.map((id) => ({ id, name: "Shop", secret: "s" })) };
const HOUR_MS = 3_600_000;

const report = (plaza: TestPlaza, app: string, event_id = "e") =>
  plaza.post(`/v26.0/${app}/activities`, {
    bearer: `${app}|s`,
    headers: { "x-forwarded-for": "1.2.3.4" },
    body: { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", custom_events: [{ _eventName: "n", event_id }] },
  });
const counted = async (plaza: TestPlaza, app: string) => (await listEventNames(plaza.world, nodeId(app)))[0]?.count;

/** Tests batches of several apps, and requests whose transaction fails or is repeated. */
onEachDatabase("batches of several apps", (kind) => {
  const open = () => openPlaza({ database: kind, world: shops });

  test("write at the same time, on PostgreSQL with at most half of the connections, and all are stored", async () => {
    const plaza = await open();
    const { database } = plaza.world;
    const write = database.write.bind(database);
    let [writing, most] = [0, 0];
    const gate = Promise.withResolvers<void>();
    database.write = async (body) => {
      most = Math.max(most, ++writing);
      if (most === (kind === "postgres" ? 4 : APPS.length)) gate.resolve();
      await gate.promise;
      return write(body).finally(() => writing--);
    };
    const responses = await Promise.all(APPS.flatMap((app) => [report(plaza, app), report(plaza, app, "f")]));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(most).toBe(kind === "postgres" ? 4 : APPS.length);
    for (const app of APPS) expect(await counted(plaza, app)).toBe(2);
  });

  test("a request whose transaction cannot begin is refused, and the next one is not", async () => {
    const plaza = await open();
    const { database } = plaza.world;
    const write = database.write.bind(database);
    database.write = () => Promise.reject(databaseUnreachable());
    const refused = await Promise.all([report(plaza, "1001"), report(plaza, "1001", "f"), report(plaza, "1002")]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    database.write = write;
    expect((await report(plaza, "1001")).status).toBe(200);
    expect([await counted(plaza, "1001"), await counted(plaza, "1002")]).toEqual([1, undefined]);
  });

  test("a transaction that is repeated has the same requests", async () => {
    const plaza = await open();
    const { database } = plaza.world;
    const write = database.write.bind(database);
    let tries = 0;
    database.write = async (body) => {
      const undone = new Error("undone");
      await write(async (tx) => {
        tries++;
        await body(tx);
        throw undone;
      }).catch((error) => expect(error).toBe(undone));
      return write(body);
    };
    expect((await Promise.all([report(plaza, "1001"), report(plaza, "1001", "f")])).map(({ status }) => status)).toEqual([200, 200]);
    expect([tries > 0, await counted(plaza, "1001")]).toEqual([true, 2]);
  });

  test("a new process leaves the job of retention at its time, so that a server that restarts often also deletes", async () => {
    const plaza = await open();
    const { clock, database, jobs } = plaza.world;
    const dueMs = () => jobs.dueTimeOf(database.reader, retention.kind, "daily");
    expect(await dueMs()).toBeUndefined();
    await database.write((tx) => ensureRetention(tx, plaza.world));
    const due = clock.nowMs() + 24 * HOUR_MS;
    expect(await dueMs()).toBe(due);
    await clock.set(clock.nowMs() + HOUR_MS, true);
    await database.write((tx) => ensureRetention(tx, plaza.world));
    expect(await dueMs()).toBe(due);
  });
});
