import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fixtureMigrations, newFeatures, openWebhooks, startReceiver, valuesAt } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { Lane } from "./endpoint-queue.ts";

describe("a lane", () => {
  test("begins small, grows with success, shrinks when no response comes in time", () => {
    const lane = new Lane("1", 0);
    expect(lane.capacityForFirsts(0, false)).toBe(4);
    for (let n = 0; n < 200; n++) lane.succeeded(200);
    expect(lane.capacityForFirsts(0, false)).toBe(128);
    lane.failed(true, 15_000, 0);
    expect([lane.capacityForFirsts(0, false), lane.isSlow]).toEqual([64, true]);
    for (let n = 0; n < 3; n++) lane.failed(true, 15_000, 0);
    expect(lane.capacityForFirsts(0, false)).toBe(8);
  });

  test("a receiver that responses at once has 16 calls out at most, and more claimed", () => {
    const lane = new Lane("1", 0);
    for (let n = 0; n < 100; n++) lane.succeeded(1);
    expect(lane.capacityForFirsts(0, false)).toBe(256);
    let out = 0;
    for (; lane.hasFreeSlot; out++) lane.goesOut(1);
    expect(out).toBe(16);
    lane.isStored(1);
    expect<boolean>(lane.hasFreeSlot).toBe(true);
    // POSTs that hold many events are fewer.
    lane.goesOut(240);
    lane.isStored(1);
    expect<boolean>(lane.hasFreeSlot).toBe(true);
    lane.goesOut(10);
    lane.isStored(1);
    expect<boolean>(lane.hasFreeSlot).toBe(false);
  });

  test("first attempts have room of their own beside retries, and the reverse", () => {
    const lane = new Lane("1", 0);
    lane.retries = 2;
    expect([lane.capacityForFirsts(0, false), lane.capacityForRetries(0, false)]).toEqual([4, 0]);
    lane.retries = 0;
    lane.firsts = 4;
    expect([lane.capacityForFirsts(0, false), lane.capacityForRetries(0, false)]).toEqual([0, 2]);
  });

  test("when nearly every request fails it is spared, then one request at a time finds out; each time longer, up to 30 s", () => {
    const lane = new Lane("1", 0);
    let now = 0;
    for (let n = 0; n < 21; n++) lane.failed(false, 1, now);
    expect(lane.waitMs(now)).toBe(0);
    lane.failed(false, 1, now);
    for (const spared of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect([lane.waitMs(now), lane.capacityForFirsts(now, false), lane.capacityForRetries(now, false)]).toEqual([spared, 0, 0]);
      expect(lane.capacityForFirsts(now, true)).toBeGreaterThan(0);
      now += spared;
      expect([lane.waitMs(now), lane.capacityForFirsts(now, false)]).toEqual([0, 1]);
      lane.firsts = 1;
      expect([lane.capacityForFirsts(now, false), lane.capacityForRetries(now, false)]).toEqual([0, 0]);
      lane.firsts = 0;
      lane.failed(false, 1, now);
    }
    for (let n = 0; n < 5; n++) lane.succeeded(1);
    expect([lane.isProbing, lane.capacityForFirsts(now, false)]).toEqual([false, 256]);
  });

  test("one that hangs is spared after a few requests; one that fails three times in ten never is", () => {
    const hanging = new Lane("1", 0);
    let requests = 0;
    while (hanging.waitMs(0) === 0) {
      hanging.failed(true, 15_000, 0);
      requests++;
    }
    expect(requests).toBeLessThan(8);
    const lane = new Lane("2", 0);
    let die = 7;
    for (let n = 0; n < 100_000; n++) {
      die = (die * 48_271) % 2_147_483_647;
      if (die / 2_147_483_647 < 0.3) lane.failed(false, 1, 0);
      else lane.succeeded(1);
      expect(lane.isProbing).toBe(false);
    }
  });

  test("a rate is never passed, whatever is asked when", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.nat(300), { maxLength: 60 }), (rate, waits) => {
        const lane = new Lane("1", rate);
        let now = 0;
        let taken = 0;
        for (const wait of waits) {
          now += wait;
          const capacity = Math.max(0, lane.capacityForFirsts(now, false));
          lane.take(capacity);
          taken += capacity;
        }
        expect(taken).toBeLessThanOrEqual(rate + (now * rate) / 1_000 + 1);
      }),
    );
  });
});

describe("lanes beside each other", () => {
  test("a callback that hangs, and one that fails, slow nobody else, and do not take more than their share", async () => {
    const [hanging, failing, well] = [startReceiver(), startReceiver(), startReceiver()];
    const release: (() => void)[] = [];
    hanging.response = () => new Promise((resolve) => release.push(() => resolve(new Response("late"))));
    failing.response = () => new Response(null, { status: 500 });
    const features = newFeatures(well.url);
    features.apps.set("1002", { url: hanging.url, secret: "h" }).set("1003", { url: failing.url, secret: "f" });
    features.subscribers = () => ["1001", "1002", "1003"];
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features });
    fixture.loop.start();
    for (let n = 0; n < 500; n++) await fixture.emit(`${40_000 + n}`, { n });
    const startMs = performance.now();
    while (valuesAt(well).length < 500) await Bun.sleep(2);
    expect(performance.now() - startMs).toBeLessThan(3_000);
    expect(hanging.received.length).toBe(4);
    // Until it is spared, those that were out with the last, and a probe each time it is due.
    expect(failing.received.length).toBeLessThan(60);
    for (let n = 0; n < 500; n++) for (const end of release.splice(0)) end();
  });

  test("an entity whose delivery hangs holds up its own order alone", async () => {
    const receiver = startReceiver();
    const release: (() => void)[] = [];
    receiver.response = ({ body }) =>
      body.entry[0].id === "4001" ? new Promise((resolve) => release.push(() => resolve(new Response("late")))) : new Response("ok");
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    fixture.loop.start();
    await fixture.emit("4001", { n: 0 });
    while (receiver.received.length === 0) await Bun.sleep(1);
    for (let n = 1; n <= 200; n++) await fixture.emit("4001", { n });
    for (let n = 1; n <= 20; n++) await fixture.emit(`${40_000 + n}`, { n });
    const startMs = performance.now();
    while (receiver.received.length < 21 && performance.now() - startMs < 3_000) await Bun.sleep(2);
    expect(receiver.received.filter(({ body }) => body.entry[0].id !== "4001")).toHaveLength(20);
    release.pop()?.();
    while (release.length === 0) await Bun.sleep(1);
    expect(receiver.received.at(-1)?.values).toHaveLength(200);
    release.pop()?.();
  });

  test("new events go out while a night's failures are tried again", async () => {
    const receiver = startReceiver();
    let isWell = false;
    receiver.response = async ({ values }) => {
      if (!isWell) return new Response(null, { status: 500 });
      await Bun.sleep((values[0] as { n: number }).n < 1_000 ? 200 : 1);
      return new Response("ok");
    };
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    for (let n = 0; n < 300; n++) await fixture.emit(`${40_000 + n}`, { n });
    await fixture.loop.runDue();
    isWell = true;
    fixture.clock.ms += 15_000;
    fixture.loop.start();
    await Bun.sleep(20);
    const startMs = performance.now();
    for (let n = 1_000; n < 1_050; n++) await fixture.emit(`${40_000 + n}`, { n });
    const news = () => valuesAt(receiver).filter((value) => (value as { n: number }).n >= 1_000).length;
    while (news() < 50) await Bun.sleep(2);
    // A second in which the receiver is still spared, one retry as probe, and some: far from the 10 s that all retries take.
    expect(performance.now() - startMs).toBeLessThan(5_000);
    const retried = receiver.received.length - 300 - 50;
    expect(retried).toBeLessThan(300);
  });
});
