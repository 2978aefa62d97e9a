/** Tests events that are claimed in the transaction that stores them, and sent after its commit. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, type WebhookFixture } from "#harness/webhooks";
import { movedClock, newWorkStore } from "#harness/work-database";
import { LEASE_MS } from "#jobs/work-session";
import { nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { listDeliveries } from "../history/list.store.ts";
import { DELIVERED, SENDING, WAITING } from "./deliveries.store.ts";

const statusesIn = async (reader: Reader): Promise<number[]> =>
  (await listDeliveries(reader, {}, { limit: 100 })).rows.map(({ status }) => status).reverse();

const emitIn = (fixture: WebhookFixture, tx: Transaction, account: string, n: number) =>
  fixture.webhooks.emit(tx, chatappField("messages"), { entity: nodeId(account), payload: { n } });

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await Bun.sleep(1);
};

onEachDatabase("events that are sent at once", (kind) => {
  /** Opens webhooks and delivers one event, so that the session is stored and the queue is known. */
  async function open() {
    const receiver = startReceiver();
    const store = await newWorkStore(kind, fixtureMigrations);
    const database = await store.open();
    const fixture = openWebhooks(database, { features: newFeatures(receiver.url) });
    fixture.loop.start();
    await fixture.emit("4001", { n: 0 });
    await fixture.loop.runDue();
    return { receiver, store, database, fixture };
  }
  // On PostgreSQL, an event waits for a claim, because another process could take over the session before the commit.
  const AT_ONCE = kind === "sqlite" ? SENDING : WAITING;

  test("an event with nothing before it is claimed when it is stored; the next one of its entity waits for its end", async () => {
    const { receiver, database, fixture } = await open();
    const seen = await database.write(async (tx) => {
      for (const [account, n] of [["4001", 1] as const, ["4001", 2] as const, ["4002", 3] as const]) await emitIn(fixture, tx, account, n);
      return statusesIn(tx);
    });
    expect(seen).toEqual([DELIVERED, AT_ONCE, WAITING, AT_ONCE]);
    await until(async () => (await statusesIn(database.reader)).every((status) => status !== WAITING && status !== SENDING));
    const first = receiver.posts.filter(({ json }) => json.entry[0].id === "4001").flatMap(({ values }) => values);
    expect(first).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(valuesAt(receiver)).toHaveLength(4);
  });

  test("a failed one is retried like any other", async () => {
    const { receiver, database, fixture } = await open();
    receiver.response = (_post, count) => new Response(null, { status: count === 2 ? 500 : 200 });
    await fixture.emit("4001", { n: 1 });
    await until(async () => receiver.posts.length === 2 && (await statusesIn(database.reader))[1] !== SENDING);
    await fixture.loop.runDue();
    expect(await statusesIn(database.reader)).toEqual([DELIVERED, WAITING]);
    await fixture.advance(60);
    expect({ values: valuesAt(receiver), statuses: await statusesIn(database.reader) }).toEqual({
      values: [{ n: 0 }, { n: 1 }, { n: 1 }],
      statuses: [DELIVERED, DELIVERED],
    });
  });

  test("a cause that is rolled back sends nothing, and delays nothing", async () => {
    const { receiver, database, fixture } = await open();
    const undone = database.write(async (tx) => {
      await emitIn(fixture, tx, "4001", 1);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    for (const n of [2, 3]) await fixture.emit("4001", { n });
    // Two events that wait at the same time are sent in one POST.
    await until(() => valuesAt(receiver).length >= 3);
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 0 }, { n: 2 }, { n: 3 }]);
  });

  test("an event that is stored after the loop has stopped waits for the next process", async () => {
    const { receiver, database, store, fixture } = await open();
    await fixture.loop.stop();
    await fixture.emit("4001", { n: 1 });
    expect(await statusesIn(database.reader)).toEqual([DELIVERED, WAITING]);
    const next = openWebhooks(kind === "postgres" ? await store.open() : database, { features: fixture.features });
    await next.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 0 }, { n: 1 }]);
  });

  test("due work is also done if the lease has expired meanwhile, on a machine that slept", async () => {
    const receiver = startReceiver();
    const real = movedClock();
    const fixture = openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(receiver.url), real });
    for (const n of [1, 2]) {
      await fixture.emit("4001", { n });
      await fixture.loop.runDue();
      real.ms += LEASE_MS + 1;
    }
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
