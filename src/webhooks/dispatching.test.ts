/**
 * Tests the work of the dispatcher besides sending: mistakes of the program, deliveries that an ended process left, searches of a shared database,
 * and the dispatcher's report.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { startReceiver, valuesAt } from "#harness/receiver";
import { stopMonotonicClock } from "#harness/time/stopped-time";
import { chatappField, fixtureMigrations, insertDeliveries, newFeatures, openWebhooks, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { listDeliveries } from "./history/list.store.ts";

onEachDatabase("the dispatcher", (kind) => {
  async function open() {
    const receiver = startReceiver();
    const store = await newWorkStore(kind, fixtureMigrations);
    const database = await store.open();
    return { receiver, store, database, fixture: openWebhooks(database, { features: newFeatures(receiver.url) }) };
  }
  const emitMany = ({ database, webhooks }: WebhookFixture, count: number) =>
    database.write(async (tx) => {
      for (let n = 0; n < count; n++) await webhooks.emit(tx, chatappField("messages"), { entity: nodeId("4001"), payload: { n } });
    });

  test("a mistake of the program in an attempt is reported and kept, and the attempt is repeated a second later, without counting against the receiver", async () => {
    const { receiver, fixture } = await open();
    const { features, clock, errors } = fixture;
    const { apps } = features;
    const get = apps.get.bind(apps);
    await fixture.emit("4001", { n: 1 });
    apps.get = () => {
      throw new Error("a mistake");
    };
    await fixture.loop.runDue();
    apps.get = get;
    expect(errors.splice(0).map(String)).toEqual(["Error: a mistake"]);
    const [row] = (await listDeliveries(fixture.database.reader, {}, { limit: 1 })).rows;
    expect(row).toMatchObject({ status: 0, retry_due_ms: clock.ms + 1_000 });
    expect(JSON.parse(row?.attempts ?? "")).toEqual([{ time_ms: clock.ms, error: "internal: a mistake" }]);
    expect(fixture.attempts).toEqual([]);
    clock.ms += 1_000;
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
  });

  test("results that could not be stored are stored by the next turn that reaches the database, without another attempt", async () => {
    const { receiver, database, fixture } = await open();
    const { dispatcher } = fixture.webhooks;
    const { session } = fixture.loop;
    const turn = () => dispatcher.turn({ nowMs: fixture.clock.ms, storedNowMs: async () => 0, session, isHurried: false, isLast: false });
    const statuses = async () => (await listDeliveries(database.reader, {}, { limit: 10 })).rows.map(({ status }) => status);
    for (const account of ["4001", "4002"]) await fixture.emit(account, {});
    const write = database.write.bind(database);
    let isAway = false;
    database.write = (body) => (isAway ? Promise.reject(new Error("away")) : write(body));
    receiver.response = () => {
      isAway = true;
      return new Response("ok");
    };
    expect((await turn()).didWork).toBe(true);
    await dispatcher.settled();
    // The results cannot be stored now, so no further attempt is made.
    while (fixture.errors.length < 2) await Bun.sleep(1);
    await expect(turn()).rejects.toThrow("away");
    expect({ statuses: await statuses(), isBusy: dispatcher.isBusy(fixture.clock.ms) }).toEqual({ statuses: [1, 1], isBusy: true });
    isAway = false;
    await turn();
    expect({ statuses: await statuses(), posts: receiver.posts.length }).toEqual({ statuses: [2, 2], posts: 2 });
    expect(fixture.errors.splice(0).map(String)).toEqual(["Error: away", "Error: away"]);
    await turn();
    expect(dispatcher.isBusy(fixture.clock.ms)).toBe(false);
  });

  test("each attempt is reported with the number of events in its POST", async () => {
    const { receiver, fixture } = await open();
    receiver.response = (_post, count) => new Response(null, { status: count === 1 ? 500 : 200 });
    await emitMany(fixture, 3);
    await fixture.loop.runDue();
    fixture.clock.ms += 15_000;
    await fixture.loop.runDue();
    expect(fixture.attempts.map(({ updates, outcome }) => [updates, outcome.kind])).toEqual([
      [3, "retry"],
      [3, "delivered"],
    ]);
  });

  test("everything that an ended process was sending is interrupted and due, any number, and nothing of others", async () => {
    const { database, fixture } = await open();
    const row = { status: 1, queue_entity: 2001 };
    await insertDeliveries(database, [
      ...Array.from({ length: 1_025 }, (_, at) => ({ ...row, id: at + 1, fence: 7 })),
      { ...row, id: 2_000, fence: 8 },
    ]);
    await database.write((tx) => fixture.webhooks.dispatcher.release(tx, 7));
    const states = await database.reader.all(
      sql`SELECT d.status, d.fence, d.retry_due_ms, d.attempts, COUNT(*) AS count FROM webhook_deliveries d GROUP BY d.status, d.fence, d.retry_due_ms, d.attempts ORDER BY d.status`,
    );
    const attempts = JSON.stringify([{ time_ms: fixture.clock.ms, error: "interrupted" }]);
    expect(states).toEqual([
      { status: 0, fence: 0, retry_due_ms: fixture.clock.ms, attempts, count: 1_025 },
      { status: 1, fence: 8, retry_due_ms: null, attempts: "[]", count: 1 },
    ]);
  });

  test("deliveries of other processes are looked for once a second, if there can be any; nothing is claimed in the last turn", async () => {
    const { receiver, fixture, store } = await open();
    const isShared = kind === "postgres";
    const { dispatcher } = fixture.webhooks;
    const { session } = fixture.loop;
    const monotonic = stopMonotonicClock(100_000);
    const turn = (more = {}) =>
      dispatcher.turn({ nowMs: fixture.clock.ms, storedNowMs: async () => 0, session, isHurried: false, isLast: false, ...more });
    expect(await turn()).toEqual({ didWork: false, nextDueMs: undefined });
    // Another process emits an event, and this process gets no message about it.
    const elsewhere = openWebhooks(isShared ? await store.open() : fixture.database, { features: fixture.features });
    await elsewhere.emit("4001", { n: 1 });
    monotonic.ms += 999;
    expect((await turn()).didWork).toBe(false);
    monotonic.ms += 1;
    expect((await turn({ isLast: true })).didWork).toBe(false);
    expect((await turn()).didWork).toBe(isShared);
    // If a caller waits for all due work, the dispatcher searches the database at once.
    if (!isShared) expect((await turn({ isHurried: true })).didWork).toBe(true);
    await dispatcher.settled();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
  });

  test("overdue deliveries are looked for every half minute, and not in the last turn", async () => {
    const { fixture } = await open();
    const { dispatcher } = fixture.webhooks;
    const monotonic = stopMonotonicClock(100_000);
    const check = dispatcher.checkOverdue.bind(dispatcher);
    let looks = 0;
    dispatcher.checkOverdue = (monotonicMs) => {
      looks++;
      return check(monotonicMs);
    };
    const looksAfter = async (ms: number, isLast: boolean) => {
      monotonic.ms += ms;
      const { session } = fixture.loop;
      await dispatcher.turn({ nowMs: fixture.clock.ms, storedNowMs: async () => 0, session, isHurried: false, isLast });
      return looks;
    };
    expect([await looksAfter(0, true), await looksAfter(0, false), await looksAfter(29_999, false), await looksAfter(1, false)]).toEqual([
      0, 1, 1, 2,
    ]);
  });
});
