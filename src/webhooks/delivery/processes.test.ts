import { expect, test } from "bun:test";
import fc from "fast-check";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { movedClock, newWorkStore } from "#harness/work-database";
import { LEASE_MS } from "#jobs/work-session";
import { listDeliveries, listEventsOf } from "../history/list.store.ts";

const numberOf = (value: unknown): number => (value as { n: number }).n;

onEachDatabase("deliveries and processes", (kind) => {
  test("deliveries that a killed process was sending are sent again by the next, with the same id and body", async () => {
    const receiver = startReceiver();
    const release: (() => void)[] = [];
    receiver.response = () => new Promise((resolve) => release.push(() => resolve(new Response("too late"))));
    afterThisTest(async () => {
      for (const end of release) end();
    });
    const store = await newWorkStore(kind, fixtureMigrations);
    const database = await store.open();
    const features = newFeatures(receiver.url);
    const dead = openWebhooks(database, { features, isKilled: true });
    dead.loop.start();
    await dead.emit("4001", { n: 1 });
    await dead.emit("4002", { n: 2 });
    while (receiver.posts.length < 2) await Bun.sleep(1);
    receiver.response = () => new Response("ok");

    const real = movedClock();
    const next = openWebhooks(kind === "postgres" ? await store.open() : database, { features, real });
    // The deliveries wait until the lease ends, because until that time their process may still run and be sending them.
    real.ms += LEASE_MS - 100;
    if (kind === "postgres") {
      await next.loop.runDue();
      expect(receiver.posts).toHaveLength(2);
    }
    real.ms += 101;
    await next.loop.runDue();
    expect(receiver.posts).toHaveLength(4);
    for (const n of [1, 2]) {
      const sent = receiver.posts.filter(({ values }) => numberOf(values[0]) === n).map(({ headers, body }) => `${headers["webhook-id"]} ${body}`);
      expect({ n, sent: sent.length, different: new Set(sent).size }).toEqual({ n, sent: 2, different: 1 });
    }
    // Results that the process gets after its session was ended are not stored, because its fence is no longer valid.
    for (const end of release.splice(0)) end();
    await Bun.sleep(20);
    await dead.loop.runDue().catch(() => {});
    const { rows } = await listDeliveries(next.database.reader, {}, { limit: 10 });
    expect(
      rows.map(({ status, attempts }) => ({
        status,
        attempts: JSON.parse(attempts).map(({ error, answer }: Record<string, string>) => error ?? answer),
      })),
    ).toEqual([
      { status: 2, attempts: ["interrupted", "ok"] },
      { status: 2, attempts: ["interrupted", "ok"] },
    ]);
  });

  test("whatever a receiver responds, every event ends delivered or failed, no delivered one arrives twice, and first attempts keep the order", async () => {
    const receiver = startReceiver();
    const fixture = openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    let base = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ account: fc.nat(3), phone: fc.option(fc.nat(2)), waitMs: fc.nat(20_000) }), { minLength: 1, maxLength: 25 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        async (events, responses) => {
          receiver.posts.length = 0;
          const taken = new Map<number, number>();
          const seen = new Set<string>();
          const firsts = new Map<string, number[]>();
          receiver.response = ({ values, headers, json }) => {
            const id = headers["webhook-id"] as string;
            const account = json.entry[0].id as string;
            if (!seen.has(id)) firsts.set(account, [...(firsts.get(account) ?? []), ...values.map(numberOf)]);
            seen.add(id);
            const status = [200, 200, 204, 500, 503, 404, 302, 429, 200, 400][responses.next().value as number] as number;
            if (status < 300) for (const value of values) taken.set(numberOf(value), (taken.get(numberOf(value)) ?? 0) + 1);
            return new Response(null, { status });
          };
          for (const [at, { account, phone, waitMs }] of events.entries()) {
            await fixture.emit(`400${account}`, { n: base + at }, phone === null ? {} : { phone: `41${phone}1` });
            if (waitMs > 15_000) await fixture.advance((waitMs - 15_000) / 1_000);
          }
          await fixture.advance(40 * 3_600);
          const { reader } = fixture.database;
          const { rows } = await listDeliveries(reader, {}, { limit: 100 });
          expect(rows.filter(({ status }) => status !== 2 && status !== 3)).toEqual([]);
          const delivered = await Promise.all(rows.filter(({ status }) => status === 2).map(({ id }) => listEventsOf(reader, id)));
          const numbers = delivered.flat().map(({ payload }) => numberOf(JSON.parse(payload)));
          const once = new Map(numbers.filter((n) => n >= base).map((n) => [n, 1]));
          expect(taken).toEqual(once);
          for (const order of firsts.values()) expect(order).toEqual([...order].sort((a, b) => a - b));
          expect(fixture.errors).toEqual([]);
          base += events.length;
        },
      ),
      { numRuns: kind === "sqlite" ? 25 : 8 },
    );
  }, 25_000);
});

test("two processes on PostgreSQL share the deliveries: each is sent once, and each entity's in order", async () => {
  const receiver = startReceiver();
  const store = await newWorkStore("postgres", fixtureMigrations);
  const features = newFeatures(receiver.url);
  const clock = { ms: 0, nowMs: () => Date.now() };
  const fixtures = [
    openWebhooks(await store.open(), { features, clock, real: clock }),
    openWebhooks(await store.open(), { features, clock, real: clock }),
  ];
  for (const { loop } of fixtures) loop.start();
  const total = 600;
  for (let n = 0; n < total; n += 20) {
    await Promise.all(
      fixtures.map(({ database, webhooks }, half) =>
        database.write(async (tx) => {
          for (let at = n + half * 10; at < n + half * 10 + 10; at++) {
            await webhooks.emit(tx, chatappField("messages"), { entity: `${40_000 + (at % 7)}` as never, payload: { n: at, by: half } });
          }
        }),
      ),
    );
  }
  while (valuesAt(receiver).length < total) await Bun.sleep(5);
  await Bun.sleep(50);
  const numbers = valuesAt(receiver).map(numberOf);
  expect(new Set(numbers).size).toBe(total);
  expect(numbers).toHaveLength(total);
  // The test compares the order only within an entity and a process, because ids that two processes make at the same moment have no order.
  for (let entity = 0; entity < 7; entity++) {
    for (const by of [0, 1]) {
      const own = receiver.posts
        .flatMap(({ json, values }) => (json.entry[0].id === `${40_000 + entity}` ? values : []))
        .filter((value) => (value as { by: number }).by === by);
      expect(own.map(numberOf)).toEqual(own.map(numberOf).sort((a, b) => a - b));
    }
  }
  expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(receiver.posts.length);
  const senders = fixtures.map(({ attempts }) => attempts.length);
  expect(Math.min(...senders)).toBeGreaterThan(0);
});
