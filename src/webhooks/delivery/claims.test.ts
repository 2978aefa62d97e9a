import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { chatappField, fixtureMigrations, newFeatures, openWebhooks, pauseCallback, type WebhookFixture } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { listCallbacks } from "../callbacks/callbacks.store.ts";
import { PROBE_EVERY_MS } from "../callbacks/health.ts";
import { FieldCatalogue } from "../catalogue/catalogue.ts";
import { type Claimed, type ClaimRequest, type Claims, claim } from "./claims.ts";
import { saveMove } from "./deliveries.store.ts";

const fields = new FieldCatalogue(["messages", "account_update"].map(chatappField));
/** The fields of two events that are never sent together, because overrides apply to only one of the fields. */
const TWO_ROUTES = ["messages", "account_update"];

onEachDatabase("the deliveries of a claim", (kind) => {
  async function open() {
    const features = newFeatures("http://127.0.0.1:1/hook");
    const store = await newWorkStore(kind, fixtureMigrations);
    const fixture = openWebhooks(await store.open(), { features });
    await emit(fixture, 40_000, ["messages"]);
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    const requestOf = (more: Partial<ClaimRequest>): ClaimRequest => ({
      ...{ queue: callback?.id ?? "", firsts: 50, retries: 0, busy: new Set<string>(), fromEntity: "0", isProbe: false },
      ...more,
    });
    const run = (more: Partial<ClaimRequest>): Promise<Claims> =>
      fixture.database.write((tx) => claim(tx, [requestOf(more)], { fence: 1, nowMs: 0, fields }));
    return { fixture, run, requestOf, store };
  }

  const emit = (fixture: WebhookFixture, account: number, names: readonly string[]) =>
    fixture.database.write(async (tx) => {
      for (const name of names) await fixture.webhooks.emit(tx, chatappField(name), { entity: nodeId(String(account)), payload: {} });
    });

  const entitiesOf = ({ claimed }: Claims): string[] => claimed.map(({ row }) => row.entity).sort();
  const leftBy = ({ views }: Claims) => views.map(({ hasMore, hasBlocked }) => ({ hasMore, hasBlocked }))[0];

  test("D-137: one delivery of a paused callback is taken each hour, whichever process asks, due or not", async () => {
    const { fixture, run } = await open();
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    await fixture.database.write((tx) => pauseCallback(tx, callback?.id ?? "", -PROBE_EVERY_MS));
    for (let account = 40_001; account <= 40_003; account++) await emit(fixture, account, ["messages"]);
    const probe = { firsts: 1, retries: 1, isProbe: true };
    const [first, second] = await Promise.all([run(probe), run(probe)]);
    expect([first.claimed.length, second.claimed.length].sort()).toEqual([0, 1]);
    expect([...first.claimed, ...second.claimed]).toMatchObject([{ isProbe: true, isRetry: false }]);
    expect([leftBy(first), leftBy(second)]).toEqual([
      { hasMore: true, hasBlocked: true },
      { hasMore: true, hasBlocked: true },
    ]);
    expect((await run({ ...probe, firsts: 0 })).claimed).toEqual([]);
  });

  test("D-137: the only delivery of a paused callback leaves nothing behind when it is taken, and itself if another process was first", async () => {
    const { fixture, run } = await open();
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    await fixture.database.write((tx) => pauseCallback(tx, callback?.id ?? "", -PROBE_EVERY_MS));
    const probe = { firsts: 1, retries: 1, isProbe: true };
    const left = async () => {
      const { claimed, views } = await run(probe);
      return { claimed: claimed.length, hasMore: views[0]?.hasMore };
    };
    expect(await left()).toEqual({ claimed: 1, hasMore: false });
    await emit(fixture, 40_001, ["messages"]);
    expect(await left()).toEqual({ claimed: 0, hasMore: true });
  });

  test("D-137: a retry of a paused callback is taken before it is due, and looked at again while it waits", async () => {
    const { fixture, run, requestOf } = await open();
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    await emit(fixture, 40_001, ["messages"]);
    const { claimed } = await run({});
    expect(claimed).toHaveLength(2);
    await fixture.database.write(async (tx) => {
      for (const { row, fence } of claimed) await saveMove(tx, row, false, fence, row.callback, 9 * PROBE_EVERY_MS);
      await pauseCallback(tx, callback?.id ?? "", -PROBE_EVERY_MS);
    });
    const asked = async (nowMs: number) => {
      const request = requestOf({ firsts: 1, retries: 1, isProbe: true });
      const found = await fixture.database.write((tx) => claim(tx, [request], { fence: 1, nowMs, fields }));
      return { taken: found.claimed.map(({ isRetry }) => isRetry), nextRetryMs: found.views[0]?.nextRetryMs, hasMore: found.views[0]?.hasMore };
    };
    expect(await asked(0)).toEqual({ taken: [true], nextRetryMs: 0, hasMore: false });
    // The second delivery to the paused callback waits until an hour has passed.
    expect(await asked(1)).toEqual({ taken: [], nextRetryMs: 1, hasMore: false });
    expect(await asked(PROBE_EVERY_MS)).toEqual({ taken: [true], nextRetryMs: PROBE_EVERY_MS, hasMore: false });
    expect(await asked(2 * PROBE_EVERY_MS)).toEqual({ taken: [], nextRetryMs: undefined, hasMore: false });
  });

  test("D-137: if a first attempt and a retry wait for a paused callback, one of them is taken each hour, the first attempt first", async () => {
    const { fixture, run, requestOf } = await open();
    const [callback] = (await listCallbacks(fixture.database.reader, { limit: 1 })).rows;
    const [tried] = (await run({})).claimed;
    if (tried === undefined) throw new Error("nothing was claimed");
    await emit(fixture, 40_001, ["messages"]);
    await fixture.database.write(async (tx) => {
      await saveMove(tx, tried.row, false, tried.fence, tried.row.callback, -1);
      await pauseCallback(tx, callback?.id ?? "", -PROBE_EVERY_MS);
    });
    const taken = async (nowMs: number) => {
      const request = requestOf({ firsts: 1, retries: 1, isProbe: true });
      const { claimed } = await fixture.database.write((tx) => claim(tx, [request], { fence: 1, nowMs, fields }));
      return claimed.map(({ row, isRetry }) => ({ entity: row.entity, isRetry }));
    };
    expect(await taken(0)).toEqual([{ entity: "40001", isRetry: false }]);
    expect(await taken(PROBE_EVERY_MS - 1)).toEqual([]);
    expect(await taken(PROBE_EVERY_MS)).toEqual([{ entity: "40000", isRetry: true }]);
  });

  test("D-62: the retries count from the first attempt that was made, not from one that was claimed and returned unsent", async () => {
    const { fixture, requestOf } = await open();
    const claimAt = async (nowMs: number, isRetry: boolean) => {
      const request = requestOf({ firsts: isRetry ? 0 : 1, retries: isRetry ? 1 : 0 });
      const [claimed] = (await fixture.database.write((tx) => claim(tx, [request], { fence: 1, nowMs, fields }))).claimed;
      if (claimed === undefined) throw new Error("nothing was claimed");
      return claimed;
    };
    const moveBack = ({ row, fence }: Claimed, isFirst: boolean) =>
      fixture.database.write((tx) => saveMove(tx, row, isFirst, fence, row.callback, 0));
    const begun: number[] = [];
    for (const [nowMs, isRetry, comesAsFirst] of [[1_000, false, true] as const, [5_000, false, false] as const, [9_000, true, false] as const]) {
      const claimed = await claimAt(nowMs, isRetry);
      begun.push(claimed.firstMs);
      await moveBack(claimed, comesAsFirst);
    }
    expect(begun).toEqual([1_000, 5_000, 5_000]);
    expect((await claimAt(99_000, true)).firstMs).toBe(5_000);
  });

  test("D-62: a batch that was returned unsent joins no other", async () => {
    const { fixture, run } = await open();
    const { database } = fixture;
    const claimOne = async () => {
      const [claimed] = (await run({ firsts: 2 })).claimed.filter(({ row }) => row.entity === "40001");
      if (claimed === undefined) throw new Error("nothing was claimed");
      return claimed;
    };
    const moveTo = (claimed: Claimed, queue: string) => database.write((tx) => saveMove(tx, claimed.row, true, claimed.fence, queue, 0));
    await emit(fixture, 40_001, ["messages"]);
    const older = await claimOne();
    const { callback } = older.row;
    await moveTo(older, "7");
    await emit(fixture, 40_001, ["messages", "messages"]);
    const batch = await claimOne();
    expect(batch.members).toHaveLength(1);
    await moveTo(batch, callback);
    await database.write((tx) =>
      tx.run(sql`UPDATE webhook_deliveries SET callback = ${callback}, first_callback = ${callback} WHERE id = ${older.row.id}`),
    );
    expect(await claimOne()).toMatchObject({ row: { id: older.row.id }, members: [] });
  });

  test("D-62: a returned batch, of two events or more, is claimed again with all of them, as a first attempt and as a retry", async () => {
    const { fixture, run } = await open();
    const { database } = fixture;
    await emit(fixture, 40_001, ["messages", "messages"]);
    await emit(fixture, 40_002, ["messages", "messages", "messages"]);
    const idsOf = ({ claimed }: Claims) =>
      Object.fromEntries(claimed.filter(({ row }) => row.entity !== "40000").map(({ row, members }) => [row.id, members.map(({ id }) => id)]));
    const batches = await run({});
    const wanted = idsOf(batches);
    expect(Object.values(wanted).map((members) => members.length)).toEqual([1, 2]);
    const moveAll = ({ claimed }: Claims, isFirst: boolean) =>
      database.write(async (tx) => {
        for (const { row, fence } of claimed) await saveMove(tx, row, isFirst, fence, row.callback, 0);
      });
    await moveAll(batches, true);
    const again = await run({});
    expect(idsOf(again)).toEqual(wanted);
    await moveAll(again, false);
    expect(idsOf(await run({ firsts: 0, retries: 50 }))).toEqual(wanted);
  });

  test("include the reasons for those that were left", async () => {
    const { fixture, run } = await open();
    for (let account = 40_001; account <= 40_003; account++) await emit(fixture, account, ["messages"]);
    expect(leftBy(await run({ firsts: 2 }))).toEqual({ hasMore: true, hasBlocked: true });
    expect(leftBy(await run({}))).toEqual({ hasMore: false, hasBlocked: false });
    // The second event neither joins the batch of the first, nor may it be sent before the first.
    await emit(fixture, 50_000, TWO_ROUTES);
    expect(leftBy(await run({}))).toEqual({ hasMore: false, hasBlocked: true });
    expect(leftBy(await run({ busy: new Set(["50000"]) }))).toEqual({ hasMore: false, hasBlocked: true });
  });

  test("are found among many waiting entities, wherever the last search ended", async () => {
    const { fixture, run } = await open();
    for (let account = 40_001; account < 40_060; account++) await emit(fixture, account, [...TWO_ROUTES, ...TWO_ROUTES]);
    const busy = new Set(entitiesOf(await run({ firsts: 60 })));
    expect(busy.size).toBe(60);
    for (const account of [30_001, 50_001]) await emit(fixture, account, ["messages"]);
    const found = await run({ firsts: 4, busy, fromEntity: "45000" });
    expect(entitiesOf(found)).toEqual(["30001", "50001"]);
    expect(leftBy(found)).toEqual({ hasMore: false, hasBlocked: true });
  });

  test.each([
    { title: "of half a megabyte travel together", text: "x", more: 0, members: 2 },
    { title: "of a byte more do not", text: "x", more: 1, members: 1 },
    // In the body of a delivery, each UTF-16 unit outside ASCII takes six bytes, because it is written as `\uXXXX`.
    { title: "of half a megabyte outside ASCII travel together", text: "ü𝄞", more: 0, members: 2 },
    { title: "of a byte more outside ASCII do not", text: "ü𝄞", more: 1, members: 1 },
  ])("D-62: events $title", async ({ text, more, members }) => {
    const { fixture, run } = await open();
    /** Makes a payload that takes the given number of bytes in a request body. */
    const payload = (bytes: number) => {
      const left = bytes - JSON.stringify({ t: "" }).length;
      const each = text === "x" ? 1 : 18;
      return { t: text.repeat(Math.floor(left / each)) + "x".repeat(left % each) };
    };
    const sizes = [200 * 1_024, 200 * 1_024, 112 * 1_024 + more];
    await fixture.database.write(async (tx) => {
      for (const size of sizes) await fixture.webhooks.emit(tx, chatappField("messages"), { entity: nodeId("40001"), payload: payload(size) });
    });
    const batch = (await run({})).claimed.find(({ row }) => row.entity === "40001");
    expect([batch?.row, ...(batch?.members ?? [])].map((one) => Buffer.byteLength(one?.payload ?? ""))).toEqual(sizes.slice(0, 1 + members));
  });

  test("D-62: at most a thousand events travel together", async () => {
    const { fixture, run } = await open();
    await emit(fixture, 40_001, new Array<string>(1_001).fill("messages"));
    const batches = (await run({})).claimed.filter(({ row }) => row.entity === "40001");
    expect(batches.map(({ members }) => members.length)).toEqual([999]);
  });

  test("a process claims the deliveries that arrived first, in order, and so are the events of a batch", async () => {
    const { fixture, run } = await open();
    for (const account of [40_009, 40_003, 40_005, 40_001]) await emit(fixture, account, ["messages", "messages", "messages"]);
    const { claimed } = await run({ firsts: 4 });
    expect(claimed.map(({ row }) => row.entity)).toEqual(["40000", "40009", "40003", "40005"]);
    for (const { row, members } of claimed) {
      const ids = [row.id, ...members.map(({ id }) => id)];
      expect(ids).toEqual(ids.toSorted((one, other) => Number(BigInt(one) - BigInt(other))));
    }
    expect(claimed.map(({ members }) => members.length)).toEqual([0, 2, 2, 2]);
  });

  if (kind === "postgres") {
    test("deliveries that another process is claiming, or has claimed, are left to it, and nothing of their entities precedes them", async () => {
      const { fixture, requestOf, store } = await open();
      for (let account = 40_001; account <= 40_003; account++) await emit(fixture, account, TWO_ROUTES);
      const other = await store.open();
      const claimAs = (fence: number, tx: Transaction, more: Partial<ClaimRequest>) => claim(tx, [requestOf(more)], { fence, nowMs: 0, fields });
      // The first claim has not committed while the second one runs.
      const [claims, end] = [Promise.withResolvers<Claims>(), Promise.withResolvers<void>()];
      const running = fixture.database.write(async (tx) => {
        claims.resolve(await claimAs(1, tx, { firsts: 2 }));
        await end.promise;
      });
      const first = await claims.promise;
      const second = await other.write((tx) => claimAs(2, tx, {}));
      end.resolve();
      await running;
      const third = await other.write((tx) => claimAs(2, tx, { busy: new Set(entitiesOf(second)) }));
      expect([first, second, third].map(entitiesOf)).toEqual([["40000", "40001"], ["40002", "40003"], []]);
      expect(leftBy(third)).toEqual({ hasMore: false, hasBlocked: true });
    });
  }
});
