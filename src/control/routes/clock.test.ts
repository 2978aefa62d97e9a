import { describe, expect, test } from "bun:test";
import { labelsOf, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import type { TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { saveJob } from "#jobs/jobs.store";
import { sleepMs } from "#system";

onEachDatabase("the clock", (database) => {
  test("is set, stopped and moved; two moves at once add up", async () => {
    const { request, plaza } = await openControl({ database });
    expect((await request("PUT", "clock", { now: "2026-11-01T10:00:00+0000", frozen: true })).body).toEqual({ now: 1_793_527_200, frozen: true });
    plaza.time.realMs += 5_000;
    expect((await request("GET", "clock")).body.now).toBe(1_793_527_200);
    await Promise.all([request("POST", "clock/advance", { seconds: 10 }), request("POST", "clock/advance", { seconds: 20 })]);
    expect((await request("PUT", "clock", { frozen: false })).body).toEqual({ now: 1_793_527_230, frozen: false });
    plaza.time.realMs += 5_000;
    expect((await request("GET", "clock")).body.now).toBe(1_793_527_235);
  });

  test("it goes to the end of the year 9999, and so does every stored time", async () => {
    const { request } = await openControl({ database });
    const last = 253_402_300_799;
    expect((await request("PUT", "clock", { now: last + 1 })).status).toBe(400);
    expect((await request("PUT", "clock", { now: "9999-12-31T23:59:59-01:00" })).status).toBe(400);
    expect((await request("PUT", "clock", { now: last, frozen: true })).body).toEqual({ now: last, frozen: true });
    expect((await request("POST", "clock/advance", { seconds: 1 })).status).toBe(422);
    // If a move of the clock is refused, later moves do not wait for it.
    expect((await request("PUT", "clock", { now: last - 5 })).body).toEqual({ now: last - 5, frozen: true });
    expect((await request("POST", "clock/advance", { seconds: 5 })).body).toEqual({ now: last, frozen: true });
    expect((await request("GET", "clock/deadlines")).status).toBe(200);
    expect((await request("GET", "requests?since=253402300800")).status).toBe(400);
  });

  test("scheduled work is listed, the earliest first", async () => {
    const { request, plaza } = await openControl({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const { jobs, database: store, clock } = plaza.world;
    await store.write(async (tx) => {
      for (const [kind, hours] of [
        ["webhook_callback_alert", 2],
        ["webhook_unsubscribe", 1],
      ] as const)
        await jobs.schedule(tx, { kind, key: "7", dueMs: clock.nowMs() + hours * 3_600_000 });
    });
    const { data } = (await request("GET", "clock/deadlines")).body;
    expect(data.filter(({ of }: { of: string }) => of === "7")).toEqual([
      { time: 1_795_003_600, kind: "webhook_unsubscribe", of: "7" },
      { time: 1_795_007_200, kind: "webhook_callback_alert", of: "7" },
    ]);
  });

  test("the list has a hundred entries, and one move is at most a hundred years forward", async () => {
    const { request, plaza } = await openControl({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const { jobs, database: store, clock } = plaza.world;
    await store.write(async (tx) => {
      for (let at = 1; at <= 101; at++) await jobs.schedule(tx, { kind: "webhook_unsubscribe", key: String(at), dueMs: clock.nowMs() + at * 1_000 });
    });
    const { data } = (await request("GET", "clock/deadlines")).body as { data: { time: number; of: string }[] };
    expect(data).toHaveLength(100);
    expect(data.at(-1)).toMatchObject({ time: 1_795_000_100, of: "100" });
    for (const seconds of [-1, 100 * 366 * 86_400 + 1]) expect((await request("POST", "clock/advance", { seconds })).status).toBe(400);
    expect((await request("GET", "clock")).body).toEqual({ now: 1_795_000_000, frozen: true });
  });

  test("an advance stops at every deadline; within_ms ends it at one, with 202 and the time it reached", async () => {
    let looks = 0;
    // On this clock, a minute passes between any two reads of the time.
    const realTime = { nowMs: Date.now, monotonicMs: () => 60_000 * looks++, sleepMs };
    const { request, plaza } = await openControl({ database }, { realTime });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const { jobs, database: store, clock } = plaza.world;
    await store.write(async (tx) => {
      for (let hour = 1; hour <= 3; hour++)
        await jobs.schedule(tx, { kind: "webhook_unsubscribe", key: `${hour}`, dueMs: clock.nowMs() + hour * 3_600_000 });
    });
    const part = await request("POST", "clock/advance", { seconds: 14_400, within_ms: 100_000 });
    expect([part.status, part.body]).toEqual([202, { now: 1_795_003_600, frozen: true }]);
    const rest = await request("PUT", "clock", { now: 1_795_014_400, within_ms: 3_600_000 });
    expect([rest.status, rest.body]).toEqual([200, { now: 1_795_014_400, frozen: true }]);
    expect((await request("POST", "clock/advance", { seconds: 1, within_ms: 0 })).status).toBe(400);
  });

  test("the next retry of a callback is in the list", async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 500 });
    const world = {
      clock: { now: 1_795_000_000, frozen: true },
      apps: [{ id: "1001", secret: "s", callback: { url: receiver.url }, subscriptions: [{ object: "page", fields: ["live_videos"] }] }],
      pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] }],
    };
    const { request, plaza } = await openControl({ database, world });
    expect((await request("POST", "deliveries/trigger", { object: "page", field: "live_videos", entity: "2001" })).status).toBe(200);
    await plaza.world.work.runDue();
    const { data } = (await request("GET", "clock/deadlines")).body;
    const retry = { time: expect.any(Number), kind: "webhook_retry", of: receiver.url };
    expect(data).toContainEqual(retry);
    const late = { kind: "late", share: "", due_ms: 1_900_000_000_000, payload: "null" };
    await plaza.world.database.write(async (tx) => {
      for (let n = 0; n < 100; n++) await saveJob(tx, { ...late, key: `${n}` });
    });
    const most = (await request("GET", "clock/deadlines")).body.data;
    expect(most).toHaveLength(100);
    expect(most.slice(0, data.length)).toEqual(data);
  });
});

describe("when the clock is moved", () => {
  test("everything that is due has happened before the response is sent", async () => {
    const happened: number[] = [];
    const settle = async ({ clock }: TestPlaza["world"]) => {
      await Promise.resolve();
      happened.push(clock.nowMs());
    };
    const { request } = await openControl({}, { onTimeMoved: [settle] });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    await request("POST", "clock/advance", { seconds: 0.5 });
    expect(happened).toEqual([1_795_000_000_000, 1_795_000_000_500]);
  });

  test("a token expires at its time", async () => {
    const { request, plaza } = await openControl();
    const now = (await request("PUT", "clock", { frozen: true })).body.now;
    const { token } = (
      await request("POST", "tokens", { type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"], expires_at: now + 60 })
    ).body;
    await request("POST", "clock/advance", { seconds: 59 });
    expect((await labelsOf(plaza, token)).status).toBe(200);
    await request("POST", "clock/advance", { seconds: 1 });
    expect((await labelsOf(plaza, token)).body.error_subcode).toBe(463);
  });
});
