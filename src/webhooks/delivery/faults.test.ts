/** Tests deliveries of webhooks with faults that a tester has ordered (D-150). */
import { expect, test } from "bun:test";
import { Faults } from "#graph/worlds/fault-injection";
import { onEachDatabase } from "#harness/databases";
import { startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nextTurn } from "#kernel/turns";
import { listDeliveries } from "../history/list.store.ts";
import type { Attempt } from "./attempts.ts";
import { DELIVERED, FAILED } from "./deliveries.store.ts";

type Gate = PromiseWithResolvers<void>;

onEachDatabase("faults for webhooks", (kind) => {
  async function open(sleepMs = async () => {}) {
    const receiver = startReceiver();
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const faults = new Faults({ sleepMs, randomFraction: () => 0, monotonicMs: () => 0 });
    const fixture = openWebhooks(database, { features: newFeatures(receiver.url), faults });
    const deliveries = async () =>
      (await listDeliveries(database.reader, {}, { limit: 100 })).rows
        .map(({ status, attempts }) => ({ status, attempts: JSON.parse(attempts) as Attempt[] }))
        .reverse();
    return { receiver, faults, fixture, deliveries };
  }

  test("D-150: a lost webhook is never sent and has failed; others arrive, and no receiver is blamed", async () => {
    const { receiver, faults, fixture, deliveries } = await open();
    faults.add({ webhook: "messages", node: "4001", effect: "lose", times: 1 });
    await fixture.emit("4001", { n: 1 }, { field: "calls" });
    for (const [account, n] of [["4002", 2] as const, ["4001", 3] as const, ["4001", 4] as const]) {
      await fixture.loop.runDue();
      await fixture.emit(account, { n });
    }
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }, { n: 4 }]);
    const [, , lost] = await deliveries();
    expect(lost).toMatchObject({ status: FAILED, attempts: [{ error: "fault: lost" }] });
    expect(fixture.attempts.filter(({ outcome }) => outcome.kind === "failed")).toEqual([]);
    expect(faults.list()).toEqual([]);
  });

  test("D-150: a repeated webhook arrives twice with the same id and body, and is delivered once", async () => {
    const { receiver, faults, fixture, deliveries } = await open();
    faults.add({ webhook: "*", effect: "repeat", times: 1 });
    receiver.response = (_post, count) => new Response("", { status: count === 2 ? 500 : 200 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    const seen = receiver.posts.map(({ headers, body }) => ({ id: headers["webhook-id"], body }));
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0] as (typeof seen)[0]);
    expect(await deliveries()).toMatchObject([{ status: DELIVERED, attempts: [{ status: 200 }] }]);
  });

  test("D-150: a reordered webhook is sent after the next one of its entity, as a retry", async () => {
    const { receiver, faults, fixture, deliveries } = await open();
    faults.add({ webhook: "messages", effect: "reorder", times: 1 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 2 }]);
    await fixture.advance(15);
    expect(valuesAt(receiver)).toEqual([{ n: 2 }, { n: 1 }]);
    expect(await deliveries()).toMatchObject([
      { status: DELIVERED, attempts: [{ error: "fault: reordered" }, { status: 200 }] },
      { status: DELIVERED, attempts: [{ status: 200 }] },
    ]);
  });

  test("D-370: a delivery that waits is sent in one POST with the events that arrive meanwhile", async () => {
    const [pausing, pause, arrived] = [1, 2, 3].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate];
    const { receiver, faults, fixture } = await open(() => {
      pausing.resolve();
      return pause.promise;
    });
    receiver.response = () => {
      arrived.resolve();
      return new Response("");
    };
    faults.add({ webhook: "messages", effect: "batch", times: 1 });
    fixture.loop.start();
    await fixture.emit("4001", { n: 1 });
    await pausing.promise;
    for (const n of [2, 3]) await fixture.emit("4001", { n });
    pause.resolve();
    await arrived.promise;
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test("D-370: a reordered webhook with a time is sent right after the next one, without a move of the clock", async () => {
    const { receiver, faults, fixture, deliveries } = await open(() => new Promise<void>(() => {}));
    const both = Promise.withResolvers<void>();
    receiver.response = (_post, count) => {
      if (count === 2) both.resolve();
      return new Response("");
    };
    faults.add({ webhook: "messages", effect: "reorder", latency_ms: 1_000, times: 1 });
    fixture.loop.start();
    await fixture.emit("4001", { n: 1 });
    while ((await deliveries())[0]?.attempts.length === 0) await nextTurn();
    await fixture.emit("4001", { n: 2 });
    await both.promise;
    expect(valuesAt(receiver)).toEqual([{ n: 2 }, { n: 1 }]);
  });

  test("D-150: events in one POST have the same fault", async () => {
    const { receiver, faults, fixture, deliveries } = await open();
    faults.add({ webhook: "messages", effect: "lose", times: 1 });
    await fixture.emit("4001", { n: 1 }, { field: "calls" });
    await fixture.emit("4001", { n: 2 });
    await fixture.emit("4001", { n: 3 });
    await fixture.loop.runDue();
    expect(receiver.posts).toEqual([]);
    expect((await deliveries()).map(({ status }) => status)).toContain(FAILED);
  });

  test("D-150: a fault that reorders leaves retries alone", async () => {
    const { receiver, faults, fixture } = await open();
    receiver.response = (_post, count) => new Response("", { status: count === 1 ? 500 : 200 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    faults.add({ webhook: "*", effect: "reorder" });
    await fixture.advance(15);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 1 }]);
    expect(faults.list()).toMatchObject([{ met: 0 }]);
  });
});
