/** Tests that each query for callbacks reads or changes only the given callback, also at times exactly at the limit. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { jobWorkerOn, newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { TimeOrderedIds } from "#system";
import * as store from "./callbacks.store.ts";
import { Callbacks } from "./callbacks.ts";
import { recordDeparture } from "./health.ts";

const NOW = 1_000;
const PAUSED: store.Health = { failing_since_ms: 1, last_failure_ms: 2, alerted_ms: 3, paused_ms: 4, probe_due_ms: NOW };
const WELL: store.Health = { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null };
const URL = "https://receiver.example/";

onEachDatabase("callbacks", (kind) => {
  /** Makes callbacks by their ids. The ids show whether a query orders ids as numbers, because as text 100 would come before 9. */
  async function withCallbacks(healths: Readonly<Record<string, store.Health>>): Promise<Database> {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    await database.write(async (tx) => {
      for (const [id, health] of Object.entries(healths).toReversed()) {
        await store.insertCallback(tx, id, "1001", `${URL}${id}`);
        await store.saveHealth(tx, id, health);
      }
    });
    return database;
  }
  const healthOf = async ({ reader }: Database, id: string): Promise<store.Health> => {
    const { id: _, app: __, url: ___, ...health } = (await store.findCallback(reader, id)) as store.CallbackRow;
    return health;
  };

  test("a callback is found by its app and address together, and an address of an app is stored once", async () => {
    const database = await withCallbacks({ "7": WELL });
    const { reader } = database;
    const insert = (id: string, app: string, url: string) => database.write((tx) => store.insertCallback(tx, id, app, url));
    expect([await insert("8", "1001", `${URL}other`), await insert("9", "1002", `${URL}7`), await insert("100", "1001", `${URL}7`)]).toEqual([
      "8",
      "9",
      "7",
    ]);
    const find = (app: string, path: string) => store.findCallbackId(reader, app, `${URL}${path}`);
    expect([await find("1001", "7"), await find("1001", "other"), await find("1002", "7"), await find("1002", "other")]).toEqual([
      "7",
      "8",
      "9",
      undefined,
    ]);
    expect((await store.listCallbacks(reader, { limit: 10 })).rows.map(({ id }) => id)).toEqual(["7", "8", "9"]);
    expect(await store.findCallback(reader, "8")).toEqual({ id: "8", app: "1001", url: `${URL}other`, ...WELL });
    expect(await store.findCallback(reader, "1")).toBeUndefined();
  });

  test("the health of one is saved and marked, and no other's", async () => {
    const database = await withCallbacks({ "7": PAUSED, "8": WELL, "9": PAUSED });
    await database.write((tx) => store.markAlerted(tx, "8", NOW));
    expect(await healthOf(database, "8")).toEqual({ ...WELL, alerted_ms: NOW });
    expect(await store.countCallbacks(database.reader)).toEqual({ failing: 2, alerted: 3, paused: 2 });
    await database.write((tx) => store.saveHealth(tx, "7", { ...WELL, failing_since_ms: 5 }));
    expect([await healthOf(database, "7"), await healthOf(database, "9")]).toEqual([{ ...WELL, failing_since_ms: 5 }, PAUSED]);
    expect(await store.countCallbacks(database.reader)).toEqual({ failing: 2, alerted: 2, paused: 1 });
  });

  test("failing and paused ones are listed, the oldest first", async () => {
    const failing = { ...WELL, failing_since_ms: 1 };
    const database = await withCallbacks({ "7": WELL, "9": failing, "10": PAUSED, "100": { ...WELL, paused_ms: 4 }, "101": failing });
    const idsOf = async (limit: number) => (await store.listTroubled(database.reader, limit)).map(({ id }) => id);
    expect([await idsOf(10), await idsOf(2)]).toEqual([
      ["9", "10", "100", "101"],
      ["9", "10"],
    ]);
  });

  test("D-137: the probe of a paused callback is taken once, from the exact millisecond on", async () => {
    const database = await withCallbacks({ "7": PAUSED, "8": { ...WELL, probe_due_ms: NOW }, "9": PAUSED });
    const take = (id: string, nowMs: number) => database.write((tx) => store.takeProbe(tx, id, nowMs, nowMs + 50));
    expect([await take("7", NOW - 1), await take("7", NOW), await take("7", NOW + 49), await take("7", NOW + 50)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(await take("8", NOW)).toBe(false);
    expect(await healthOf(database, "9")).toEqual(PAUSED);
  });

  test("a callback is in use while a delivery waits for it, for the first time or the next, or is being sent", async () => {
    const database = await withCallbacks({ "7": WELL });
    await insertDeliveries(database, [
      { id: 1, callback: 71, isFirst: true, queue_entity: 2001 },
      { id: 2, callback: 72, retry_due_ms: NOW },
      { id: 3, callback: 73, fence: 1, status: 1 },
      { id: 4, callback: 74, status: 2, ended_ms: 5 },
    ]);
    const waited = ["71", "72", "73", "74", "75"].map((id) => store.isWaitedFor(database.reader, id));
    expect(await Promise.all(waited)).toEqual([true, true, true, false, false]);
  });

  test("the next retries are sorted by time, then by the callback's id, without those of paused callbacks", async () => {
    const database = await withCallbacks({ "9": WELL, "10": PAUSED, "100": WELL, "101": WELL, "102": WELL });
    await insertDeliveries(database, [
      { id: 1, callback: 100, retry_due_ms: NOW },
      { id: 2, callback: 9, retry_due_ms: NOW },
      { id: 3, callback: 10, retry_due_ms: 1 },
      { id: 4, callback: 101, retry_due_ms: NOW + 1 },
      { id: 5, callback: 101, retry_due_ms: NOW - 1 },
      { id: 6, callback: 101 },
      { id: 7, callback: 102, isFirst: true, queue_entity: 2001 },
    ]);
    const list = async (limit: number) => (await store.listNextRetries(database.reader, limit)).map(({ id, due_ms }) => `${id} ${due_ms}`);
    expect(await list(10)).toEqual([`101 ${NOW - 1}`, `9 ${NOW}`, `100 ${NOW}`]);
    expect(await list(2)).toEqual([`101 ${NOW - 1}`, `9 ${NOW}`]);
  });

  test("D-137: when nothing waits for a failed callback any more, it counts as working, unless a person paused it", async () => {
    const failing = { ...PAUSED, alerted_ms: null, paused_ms: null, probe_due_ms: null };
    const held = { ...WELL, paused_ms: 4 };
    const healths = { "71": PAUSED, "72": PAUSED, "73": failing, "74": failing, "75": held, "76": WELL };
    const database = await withCallbacks(healths);
    await insertDeliveries(database, [
      { id: 1, callback: 72, retry_due_ms: NOW },
      { id: 2, callback: 74, isFirst: true, queue_entity: 2001 },
    ]);
    const { jobs } = jobWorkerOn(database);
    const known = new Callbacks(database, new TimeOrderedIds(() => 1));
    for (const id of ["71", "72"]) await known.find(id);
    for (const id of [...Object.keys(healths), "99"]) await database.write((tx) => recordDeparture(tx, { callbacks: known, jobs }, id));
    expect(await Promise.all(Object.keys(healths).map((id) => healthOf(database, id)))).toEqual([WELL, PAUSED, WELL, failing, held, WELL]);
  });
});
