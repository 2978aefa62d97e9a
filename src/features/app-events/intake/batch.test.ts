/** Tests how a batch is stored: duplicates, devices, amounts beyond 53 bits, times, and ties. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Client } from "pg";
import type { World } from "#graph/worlds/world";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase, testOnPostgres } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { sharedPostgres } from "#harness/postgres-cluster";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { type Sql, sql } from "#storage/sql";
import { listEventNames, logEntry } from "../app-events.control.ts";
import { findTies } from "../log/devices.store.ts";
import { type FingerprintKey, keyIn, keyNumber, keyOfApp, periodOf } from "../log/fingerprints.ts";
import { deleteEventsOfApp, insertEvents, listEvents, readSums } from "../log/log.store.ts";
import { storeBatch } from "./batch.ts";
import { insertNames } from "./intake.store.ts";
import type { Report, ReportedEvent } from "./parse-events.ts";

const APP = nodeId("1001");
const DAY = 86_400;
const NOON = 20_000 * DAY + DAY / 2;

const eventOf = (more: Partial<ReportedEvent>): ReportedEvent => ({
  ...{ name: "buy", event_id: undefined, time: NOON, value: undefined, currency: "", parameters: "" },
  advertiser_tracking_enabled: 1,
  ...more,
});

const reportOf = (events: readonly ReportedEvent[], more: Partial<Report> = {}): Report => ({
  app: APP,
  kind: "CUSTOM_APP_EVENTS",
  device: {
    ...{ advertiser_id: "a", attribution: undefined, ip: undefined, extinfo: undefined },
    ...{ application_tracking_enabled: 1, advertiser_tracking_enabled: 1, user_data: { kept: {}, dropped: 0 } },
  },
  events,
  list: "custom_events",
  event_name_limit: 10,
  received: NOON,
  ...more,
});

const KEY: FingerprintKey = [1, 2];
const store = (world: World, reports: readonly Report[]) => world.database.write((tx) => storeBatch(tx, APP, () => reports, KEY));

onEachDatabase("a batch of app events", (kind) => {
  const open = async () => (await openPlaza({ database: kind })).world;
  const logged = async (world: World) =>
    (await listEvents(world.database.reader, APP, { name: undefined, since: undefined }, { limit: 100 })).rows.map(logEntry).reverse();

  test("D-71: a key is a name and an id, and an event is a duplicate of another within 48 hours", async () => {
    const world = await open();
    const one = (name: string, event_id: string, time = NOON) => eventOf({ name, event_id, time });
    const duplicatesOf = async (...events: ReportedEvent[]) => {
      const [outcome] = await store(world, [reportOf(events)]);
      return outcome !== undefined && "duplicates" in outcome ? [...outcome.duplicates] : outcome;
    };
    expect(await duplicatesOf(one("buy", "a"), one("buy", "b"), one("sell", "a"), one("buy", "a"), one("sell", "a"))).toEqual([3, 4]);
    const [near, far] = [NOON + 2 * DAY - 1, NOON + 2 * DAY];
    expect(
      await duplicatesOf(one("buy", "c"), one("buy", "b", near), one("sell", "a", far), one("sell", "b"), one("buy", "a", 2 * NOON - near)),
    ).toEqual([1, 4]);
    // The second event with a key is counted if the first event is too old; events shortly before or after the second event are its duplicates.
    expect(await duplicatesOf(one("sell", "a", far + 2 * DAY - 1), one("sell", "a", NOON - 2 * DAY + 1), one("buy", "b", far))).toEqual([0, 1]);
    // An event is a duplicate up to 48 hours before another event or up to 48 hours after it.
    expect(await duplicatesOf(one("buy", "c", NOON - 2 * DAY), one("buy", "c", NOON - 9 * DAY))).toEqual([]);
    expect((await logged(world)).map(({ event_name, event_id }) => `${event_name} ${event_id}`)).toEqual([
      ...["buy a", "buy b", "sell a", "buy c", "sell a", "sell b", "buy b", "buy c", "buy c"],
    ]);
  });

  test("I1-30: a known install is a duplicate, in the batch and after it, and is logged once", async () => {
    const world = await open();
    const install = reportOf([], { kind: "MOBILE_APP_INSTALL" });
    const [none, first] = [{ duplicates: new Set<number>() }, { duplicates: new Set([0]) }];
    expect([await store(world, [install, install]), await store(world, [install])]).toEqual([[none, first], [first]]);
    expect(await logged(world)).toHaveLength(1);
  });

  test("I1-30, D-290: a device that is known by one id is known by the other one from then on, in the batch and after it", async () => {
    const [none, first] = [{ duplicates: new Set<number>() }, { duplicates: new Set([0]) }];
    const install = (advertiser_id: string | undefined, attribution: string | undefined) =>
      reportOf([], { kind: "MOBILE_APP_INSTALL", device: { ...reportOf([]).device, advertiser_id, attribution } });
    const three = [install("a", undefined), install("a", "b"), install(undefined, "b")];
    const world = await open();
    expect(await store(world, three)).toEqual([none, first, first]);
    const other = await open();
    const outcomes = [];
    for (const one of three) outcomes.push(...(await store(other, [one])));
    expect(outcomes).toEqual([none, first, first]);
    expect([(await logged(world)).length, (await logged(other)).length]).toEqual([1, 1]);
  });

  test("LIM-1, D-72: each new name of a batch counts, and a request with one too many adds none", async () => {
    const world = await open();
    const report = (...names: string[]) =>
      reportOf(
        names.map((name) => eventOf({ name })),
        { event_name_limit: 4 },
      );
    const outcomes = await store(world, [report("a", "b"), report("c", "d", "e"), report("c", "a"), report("d"), report("e"), report("b", "d")]);
    const isRefused = outcomes.map((outcome) => outcome !== undefined && "refusal" in outcome);
    expect(isRefused).toEqual([false, true, false, false, true, false]);
    expect((await listEventNames(world, APP)).map(({ name, count }) => `${name} ${count}`)).toEqual(["a 2", "b 2", "c 1", "d 2"]);
  });

  test("EVT-36: amounts are logged digit by digit, even if a binary float would round them", async () => {
    const world = await open();
    const values = [9_007_199_254_740_991n, 9_007_199_254_740_993n, 999_999_999_999_999_999n, 0n, 1n];
    const all = values.flatMap((value) => [value, -value]);
    await store(world, [reportOf(all.map((value) => eventOf({ value })))]);
    expect((await logged(world)).map(({ value_to_sum }) => value_to_sum)).toEqual([
      ...["9007199254.740991", "-9007199254.740991", "9007199254.740993", "-9007199254.740993"],
      ...["999999999999.999999", "-999999999999.999999", "0", "0", "0.000001", "-0.000001"],
    ]);
    expect((await listEventNames(world, APP))[0]).toMatchObject({ count: 10, sums: { "": "0" } });
  });

  test("EVT-4: counts and times are kept by day, name and currency, and in total; a name without events has none", async () => {
    const world = await open();
    const at = (seconds: number, currency = "", value?: bigint) => eventOf({ time: NOON + seconds, currency, value });
    await store(world, [reportOf([at(0), at(-5), at(7), at(3 * DAY, "EUR", 1n), at(-2 * DAY, "EUR", 2n), at(DAY, "EUR")])]);
    await store(world, [reportOf([at(1)]), reportOf([at(-9), at(0, "EUR", 5n)])]);
    await world.database.write((tx) => insertNames(tx, APP, ["none"]));
    const of = async (first: number, last: number) =>
      (await readSums(world.database.reader, APP, first, last)).map(({ day, currency, count, valued, sum, first_time, last_time }) => {
        return [day - 20_000, currency, count, valued, Number(sum), first_time - NOON, last_time - NOON];
      });
    expect(await of(0, 30_000)).toEqual([
      [-2, "EUR", 1, 1, 2, -2 * DAY, -2 * DAY],
      [0, "", 5, 0, 0, -9, 7],
      [0, "EUR", 1, 1, 5, 0, 0],
      [1, "EUR", 1, 0, 0, DAY, DAY],
      [3, "EUR", 1, 1, 1, 3 * DAY, 3 * DAY],
    ]);
    expect((await of(-1, -1)).map((row) => row.slice(1))).toEqual([
      ["", 5, 0, 0, -9, 7],
      ["EUR", 4, 3, 8, -2 * DAY, 3 * DAY],
    ]);
    expect(await listEventNames(world, APP)).toEqual([
      { name: "buy", standard: false, active: true, count: 9, sums: { EUR: "0.000008" }, first_time: NOON - 2 * DAY, last_time: NOON + 3 * DAY },
      { name: "none", standard: false, active: true, count: 0, sums: {}, first_time: 0, last_time: 0 },
    ]);
  });

  test("D-71: an event whose key has the same number as another key is not its duplicate", async () => {
    const world = await open();
    const key = keyIn(periodOf(NOON), keyNumber("buy", "a", keyOfApp(KEY, APP)));
    await world.database.write((tx) => insertEvents(tx, [APP, 1, 0, NOON, NOON, "sell", "b", key, null, "", "", 1, "{}"]));
    const report = reportOf([eventOf({ event_id: "a" })]);
    expect([await store(world, [report]), await store(world, [report])]).toEqual([[{ duplicates: new Set() }], [{ duplicates: new Set([0]) }]]);
  });

  test("D-71: an event is stored unless a stored one with its key is less than 48 hours away, in any batches", async () => {
    const event = fc.record({ event_id: fc.constantFrom("a", "b"), day: fc.integer({ min: 0, max: 30 }), seconds: fc.constantFrom(-1, 0, 1) });
    const world = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(event, { minLength: 1, maxLength: 12 }), { maxLength: 6 }), async (batches) => {
        await world.database.write((tx) => deleteEventsOfApp(tx, APP));
        const stored: { event_id: string; time: number }[] = [];
        for (const batch of batches) {
          const events = batch.map(({ event_id, day, seconds }) => ({ event_id, time: NOON + day * DAY + seconds }));
          const due = events.flatMap(({ event_id, time }, at) => {
            if (stored.some((other) => other.event_id === event_id && Math.abs(other.time - time) < 2 * DAY)) return [at];
            stored.push({ event_id, time });
            return [];
          });
          expect(await store(world, [reportOf(events.map(eventOf))])).toEqual([{ duplicates: new Set(due) }]);
        }
      }),
      { numRuns: kind === "sqlite" ? 60 : 15 },
    );
  }, 60_000);

  test("D-71: a request that is sent twice reads each of its events once, in few statements", async () => {
    const world = await open();
    for (const count of [100, 1_000]) {
      const report = reportOf(Array.from({ length: count }, (_, at) => eventOf({ event_id: `${count} ${at}` })));
      await store(world, [report]);
      let [rows, statements] = [0, 0];
      const outcomes = await world.database.write((tx) => {
        const all = async (statement: Sql) => {
          const found = await tx.all(statement);
          statements++;
          rows += found.length;
          return found;
        };
        const get = (_tx: Transaction, name: string | symbol) => (name === "all" ? all : Reflect.get(tx, name).bind(tx));
        return storeBatch(new Proxy(tx, { get }), APP, () => [report], KEY);
      });
      expect(outcomes).toEqual([{ duplicates: new Set(report.events.keys()) }]);
      // The additional row is the row of the event name.
      expect(rows).toBe(count + 1);
      expect(statements).toBeLessThan(count / 5);
    }
  });

  test("D-76: one event that may be attributed is enough to tie a request's person to its device", async () => {
    const world = await open();
    const known = { user_data: { kept: { em: "1".repeat(64) }, dropped: 0 } };
    const tied = async (flags: readonly (0 | 1)[], more: object) => {
      const events = flags.map((advertiser_tracking_enabled) => eventOf({ advertiser_tracking_enabled }));
      await store(world, [reportOf(events, { device: { ...reportOf([]).device, ...more } })]);
      return (await findTies(world.database.reader, APP, ["device:a"])).length;
    };
    expect(await tied([0, 0], known)).toBe(0);
    expect(await tied([1, 1], { ...known, application_tracking_enabled: 0 })).toBe(0);
    expect(await tied([0, 1], known)).toBe(1);
  });
});

testOnPostgres("requests that arrive while another process has the app's lock are in the batch that waits for the lock", async () => {
  const { world } = await openPlaza({ database: "postgres" });
  const schema = (await world.database.reader.get<{ schema: string }>(sql`SELECT current_schema() AS schema`))?.schema;
  const other = new Client({ connectionString: (await sharedPostgres()).url });
  await other.connect();
  afterThisTest(() => other.end());
  const { rows } = await other.query("SELECT pg_backend_pid() AS pid");
  await other.query("BEGIN");
  await other.query(`SELECT slot FROM "${schema}".locks FOR NO KEY UPDATE`);
  const waiting: Report[] = [];
  const stored = world.database.write((tx) => storeBatch(tx, APP, () => waiting, KEY));
  const isAwaited = async () =>
    (await other.query("SELECT 1 FROM pg_locks WHERE NOT granted AND $1 = ANY (pg_blocking_pids(pid))", [rows[0].pid])).rowCount === 1;
  while (!(await isAwaited()));
  waiting.push(reportOf([eventOf({ event_id: "a" })]), reportOf([eventOf({ event_id: "b" })]));
  await other.query("COMMIT");
  expect(await stored).toEqual([{ duplicates: new Set() }, { duplicates: new Set() }]);
  expect(await listEventNames(world, APP)).toMatchObject([{ name: "buy", count: 2 }]);
});
