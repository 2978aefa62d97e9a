import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { postAt, type Receiver, startReceiver, valuesAt } from "#harness/receiver";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { databaseUnreachable } from "#kernel/errors";
import { nextTurn } from "#kernel/turns";
import { DatabaseLease } from "#storage/database-lease";
import { listDeliveries } from "../history/list.store.ts";
import { RETRY_OFFSETS_MS } from "./retry-schedule.ts";

const HOUR = 3_600;

onEachDatabase("D-62: deliveries", (kind) => {
  async function open(more: { url?: string | null; perSecondMax?: number } = {}): Promise<{ fixture: WebhookFixture; receiver: Receiver }> {
    const receiver = startReceiver();
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const features = newFeatures(more.url === null ? undefined : (more.url ?? receiver.url));
    return { fixture: openWebhooks(database, { features, perSecondMax: more.perSecondMax ?? 0 }), receiver };
  }

  const states = async ({ database }: WebhookFixture) => (await listDeliveries(database.reader, {}, { limit: 100 })).rows.map(({ status }) => status);

  test("an event arrives signed, in its envelope, once", async () => {
    const { fixture, receiver } = await open();
    await fixture.emit("4001", { text: "Grüße 𝄞" });
    await fixture.loop.runDue();
    await fixture.loop.runDue();
    expect(receiver.posts).toHaveLength(1);
    const [one] = receiver.posts;
    const seconds = Math.floor(fixture.clock.ms / 1000);
    expect(one?.body).toBe(
      `{"object":"chatapp_business_account","entry":[{"id":"4001","time":${seconds},"changes":[{"field":"messages","value":{"text":"Gr\\u00fc\\u00dfe \\ud834\\udd1e"}}]}]}`,
    );
    expect(one?.headers).toMatchObject({
      "content-type": "application/json",
      "x-hub-signature-256": `sha256=${createHmac("sha256", "s3cret")
        .update(one?.body ?? "")
        .digest("hex")}`,
      "webhook-id": expect.stringMatching(/^msg_\d+$/),
      "webhook-timestamp": String(Math.floor(fixture.real.ms / 1000)),
    });
    expect(await states(fixture)).toEqual([2]);
  });

  test("D-307: X-Hub-Signature with SHA-1 is sent in the profile clients only", async () => {
    for (const profile of ["strict", "clients"] as const) {
      const receiver = startReceiver();
      const database = await (await newWorkStore(kind, fixtureMigrations)).open();
      const fixture = openWebhooks(database, { features: newFeatures(receiver.url), profile });
      await fixture.emit("4001", { n: 1 });
      await fixture.loop.runDue();
      const { body, headers } = postAt(receiver, 0);
      const sha1 = `sha1=${createHmac("sha1", "s3cret").update(body).digest("hex")}`;
      expect({ profile, signature: headers["x-hub-signature"] }).toEqual({ profile, signature: profile === "clients" ? sha1 : undefined } as never);
    }
  });

  test("a response that comes after the world was replaced is no error", async () => {
    const receiver = startReceiver();
    const lease = new DatabaseLease(await (await newWorkStore(kind, fixtureMigrations)).open());
    const fixture = openWebhooks(lease, { features: newFeatures(receiver.url) });
    const [arrived, responded, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    receiver.response = async () => {
      arrived.resolve();
      await responded.promise;
      return new Response();
    };
    fixture.loop.start();
    await fixture.emit("4001", { n: 1 });
    await arrived.promise;
    await fixture.loop.abandon();
    await lease.close();
    lease.write = () => {
      refused.resolve();
      return Promise.reject(databaseUnreachable());
    };
    responded.resolve();
    await refused.promise;
    await nextTurn();
    expect(fixture.errors).toEqual([]);
  });

  test("an event whose cause is rolled back never existed", async () => {
    const { fixture, receiver } = await open();
    const { dispatcher } = fixture.webhooks;
    const arrived = dispatcher.arrived.bind(dispatcher);
    let arrivals = 0;
    dispatcher.arrived = (stored) => {
      arrivals++;
      arrived(stored);
    };
    const refused = fixture.database.write(async (tx) => {
      await fixture.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: {} });
      expect(arrivals).toBe(0);
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    await fixture.loop.runDue();
    expect(receiver.posts).toEqual([]);
    expect({ states: await states(fixture), arrivals }).toEqual({ states: [], arrivals: 0 });
    // The process does not remember the callback that the refused transaction would have stored.
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    expect(valuesAt(receiver)).toEqual([{ n: 1 }]);
    expect({ states: await states(fixture), arrivals }).toEqual({ states: [2], arrivals: 1 });
  });

  test("each subscribed app gets it, signed with its own secret; without subscribers nothing is stored", async () => {
    const { fixture, receiver } = await open();
    const other = startReceiver();
    fixture.features.apps.set("1002", { url: other.url, secret: "another" });
    fixture.features.subscribers = ({ field }) => (field === "calls" ? [] : ["1001", "1002"]);
    await fixture.emit("4001", { n: 1 });
    await fixture.emit("4001", { n: 2 }, { field: "calls" });
    await fixture.loop.runDue();
    expect({ first: valuesAt(receiver), second: valuesAt(other) }).toEqual({ first: [{ n: 1 }], second: [{ n: 1 }] });
    expect(postAt(receiver, 0).body).toBe(postAt(other, 0).body);
    const signatureOf = (secret: string) => `sha256=${createHmac("sha256", secret).update(postAt(receiver, 0).body).digest("hex")}`;
    const signatures = [receiver, other].map((each) => postAt(each, 0).headers["x-hub-signature-256"]);
    expect(signatures).toEqual([signatureOf("s3cret"), signatureOf("another")]);
  });

  test("waiting events of one entity travel together, up to 1,000 updates in a POST, in order", async () => {
    const { fixture, receiver } = await open();
    await fixture.database.write(async (tx) => {
      for (let n = 0; n < 2_300; n++) {
        await fixture.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n } });
      }
    });
    await fixture.loop.runDue();
    expect(receiver.posts.map(({ values }) => values.length)).toEqual([1_000, 1_000, 300]);
    expect(valuesAt(receiver)).toEqual(Array.from({ length: 2_300 }, (_, n) => ({ n })));
    expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
    expect(await states(fixture)).toEqual([2, 2, 2]);
  });

  test("a batch has one entity, one number and one kind of routing, and batches keep the order of the entity", async () => {
    const { fixture, receiver } = await open();
    const emits: [string, number, { field?: string; phone?: string }][] = [
      ["4001", 1, { phone: "4101" }],
      ["4001", 2, { phone: "4101", field: "calls" }],
      ["4002", 3, {}],
      ["4001", 4, { phone: "4102" }],
      ["4001", 5, { phone: "4101" }],
      ["4001", 6, { field: "account_update" }],
    ];
    for (const [account, n, more] of emits) await fixture.emit(account, { n }, more);
    await fixture.loop.runDue();
    const batches = receiver.posts.map(({ values }) => values.map((value) => (value as { n: number }).n));
    expect(batches.filter(([first]) => first !== 3)).toEqual([[1, 2], [4], [5], [6]]);
    expect(batches).toContainEqual([3]);
  });

  test("while one delivery of an entity is being sent, the next waits; another entity's does not", async () => {
    const { fixture, receiver } = await open();
    let response = (): void => {};
    receiver.response = ({ values }) =>
      (values[0] as { n: number }).n === 1 ? new Promise((resolve) => (response = () => resolve(new Response("late")))) : new Response("ok");
    fixture.loop.start();
    await fixture.emit("4001", { n: 1 });
    while (receiver.posts.length < 1) await Bun.sleep(1);
    await fixture.emit("4001", { n: 2 });
    await fixture.emit("4002", { n: 3 });
    while (receiver.posts.length < 2) await Bun.sleep(1);
    await Bun.sleep(30);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 3 }]);
    response();
    while (receiver.posts.length < 3) await Bun.sleep(1);
    expect(valuesAt(receiver)).toEqual([{ n: 1 }, { n: 3 }, { n: 2 }]);
  });

  test("a failed delivery is retried at the documented times, with the same id and body, and then has failed", async () => {
    const { fixture, receiver } = await open();
    const start = fixture.clock.ms;
    const times: number[] = [];
    receiver.response = () => {
      times.push(fixture.clock.ms - start);
      return new Response("not now", { status: 500 });
    };
    await fixture.emit("4001", { n: 1 });
    await fixture.advance(40 * HOUR);
    expect(times).toHaveLength(11);
    expect(times[0]).toBe(0);
    for (const [at, offset] of RETRY_OFFSETS_MS.entries()) expect(times[at + 1]).toBeWithin(0.9 * offset - 1, offset + 1);
    expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(1);
    expect(await states(fixture)).toEqual([3]);
    const [row] = (await listDeliveries(fixture.database.reader, {}, { limit: 1 })).rows;
    const attempts = JSON.parse(row?.attempts ?? "[]");
    expect(attempts).toHaveLength(11);
    // The signature uses the machine's clock, in seconds, which stands still in this test.
    const [timestamp] = receiver.posts.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(timestamp).toBeGreaterThan(0);
    const sent = { time_ms: expect.any(Number), callback: row?.callback, status: 500, latency_ms: expect.any(Number), answer: "not now", timestamp };
    expect(attempts[3]).toEqual(sent);
  });

  test("after each waiting time the retry has been made", async () => {
    const { fixture, receiver } = await open();
    receiver.response = () => new Response(null, { status: 503 });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    for (const [seconds, count] of [
      [15, 2],
      [45, 3],
      [240, 4],
    ] as const) {
      fixture.clock.ms += seconds * 1_000;
      await fixture.loop.runDue();
      expect(receiver.posts).toHaveLength(count);
    }
  });

  test("in the background a retry runs at its time, even if others succeed meanwhile", async () => {
    const { fixture, receiver } = await open();
    receiver.response = ({ values }) => new Response(null, { status: (values[0] as { n: number }).n === 0 && receiver.posts.length < 3 ? 500 : 200 });
    fixture.loop.start();
    for (let n = 0; n < 20; n++) await fixture.emit(`40${10 + n}`, { n });
    while (receiver.posts.length < 20) await Bun.sleep(2);
    await fixture.webhooks.dispatcher.settled();
    fixture.clock.ms += 15_000;
    fixture.loop.wake();
    while (receiver.posts.length < 21) await Bun.sleep(2);
    expect(receiver.posts.at(-1)?.values).toEqual([{ n: 0 }]);
  });

  test("a batch keeps its body in all attempts; later events do not wait for it", async () => {
    const { fixture, receiver } = await open();
    receiver.response = (_one, count) => new Response(null, { status: count === 1 ? 500 : 200 });
    await fixture.database.write(async (tx) => {
      for (let n = 1; n <= 3; n++) {
        await fixture.webhooks.emit(tx, chatappField("messages"), { entity: "4001" as never, payload: { n } });
      }
    });
    await fixture.loop.runDue();
    await fixture.emit("4001", { n: 4 });
    await fixture.loop.runDue();
    await fixture.advance(15);
    expect(receiver.posts.map(({ values }) => values)).toEqual([[{ n: 1 }, { n: 2 }, { n: 3 }], [{ n: 4 }], [{ n: 1 }, { n: 2 }, { n: 3 }]]);
    expect(postAt(receiver, 2).body).toBe(postAt(receiver, 0).body);
    expect(await states(fixture)).toEqual([2, 2]);
  });

  test("410 ends it at once; other failures do not, and 2xx does", async () => {
    const { fixture, receiver } = await open();
    const statuses = [410, 400, 301, 204];
    receiver.response = ({ values }) =>
      new Response(null, { status: statuses[(values[0] as { n: number }).n] as number, headers: { location: "/other" } });
    for (const n of statuses.keys()) await fixture.emit(`400${n + 1}`, { n });
    await fixture.loop.runDue();
    expect((await states(fixture)).reverse()).toEqual([3, 0, 0, 2]);
    expect(receiver.posts.map(({ path }) => path)).toEqual(["/hook", "/hook", "/hook", "/hook"]);
  });

  test("a forbidden address is refused at each attempt, with the reason", async () => {
    const { fixture } = await open({ url: "http://10.0.0.1/hook" });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    const [row] = (await listDeliveries(fixture.database.reader, {}, { limit: 1 })).rows;
    expect(JSON.parse(row?.attempts ?? "[]")).toMatchObject([
      { error: "refused: 10.0.0.1 is not a public address (private); --allow-callback 10.0.0.1 allows it" },
    ]);
    expect(row?.status).toBe(0);
  });

  test("a rotated secret signs beside the new one for its overlap", async () => {
    const { fixture, receiver } = await open();
    fixture.features.apps.set("1001", { url: receiver.url, secret: "new", previous: { secret: "old", until_ms: fixture.real.ms + 1_000 } });
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    fixture.real.ms += 1_000;
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    expect(receiver.posts.map(({ headers }) => (headers["webhook-signature"] ?? "").split(" ").length)).toEqual([2, 1]);
  });

  test("a rate limit spreads deliveries over time", async () => {
    const { fixture, receiver } = await open({ perSecondMax: 20 });
    fixture.loop.start();
    const startMs = performance.now();
    for (let n = 0; n < 30; n++) await fixture.emit(`40${10 + n}`, { n });
    while (receiver.posts.length < 30) await Bun.sleep(2);
    // The test emits ten events more than the rate allows in a second. If Plaza sent these ten events one by one, each a second after the other, it
    // would take ten seconds.
    expect(performance.now() - startMs).toBeWithin(400, 9_000);
  });
});
