/**
 * Tests which rows of the log and of the counts an SQL statement selects: each test also stores equal rows of another app, and rows at the limits of
 * ranges.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database, Reader } from "#storage/database";
import { countActiveNames, findNames, insertNames, listNames, setNameActive } from "../intake/intake.store.ts";
import * as log from "./log.store.ts";
import { ALL_DAYS, addSums, type EventSum, emptyRequest, listLoggedTexts, readSums } from "./log.store.ts";

const APP = nodeId("1001");
const OTHER = nodeId("1002");

interface Logged {
  readonly app?: string;
  readonly request: number;
  readonly position?: number;
  readonly received?: number;
  readonly time?: number;
  readonly name?: string;
  readonly event_id?: string;
  readonly key?: number;
  readonly tracking?: number;
}

/** Inserts rows. The first row of a request has the device of the request. */
const insert = (database: Database, rows: readonly Logged[]): Promise<void> =>
  database.write((tx) =>
    log.insertEvents(
      tx,
      rows.flatMap(({ app = APP, request, position = 0, received = 100, time = 50, name = "buy", event_id, key, tracking = 1 }) => [
        ...[app, request, position, received, time, name, event_id ?? null, key ?? null, null, "", "", tracking],
        position === 0 ? `{"advertiser_id":"${app} ${request}"}` : null,
      ]),
    ),
  );

const places = (rows: readonly { readonly request: number; readonly position: number }[]): string[] =>
  rows.map(({ request, position }) => `${request}.${position}`);

onEachDatabase("the log of app events", (kind) => {
  const open = async (): Promise<Database> => (await openPlaza({ database: kind })).world.database;
  const left = async ({ reader }: Database, app = APP): Promise<string[]> => places(await log.listLoggedTexts(reader, app, 0, -1, 100));

  test("the newest request is the app's own, and its number stays when the log is empty", async () => {
    const database = await open();
    await insert(database, [{ request: 9 }, { request: 10 }, { app: OTHER, request: 100 }]);
    const last = (app = APP) => log.lastRequestOf(database.reader, app);
    expect([await last(), await last(OTHER), await last(nodeId("1003"))]).toEqual([10, 100, 0]);
    await database.write((tx) => log.deleteEventsBetween(tx, APP, 0, 9, 1_000));
    expect([await left(database), await last()]).toEqual([["10.0"], 10]);
    await database.write((tx) => log.deleteEventsBetween(tx, APP, 9, 10, 1_000));
    expect([await left(database), await last(), await last(OTHER)]).toEqual([[], 10, 100]);
    await insert(database, [{ request: 11 }]);
    await database.write((tx) => log.deleteEventsBetween(tx, APP, 10, 11, 1_000));
    expect(await last()).toBe(11);
  });

  test("requests are deleted completely, from one number to another, except those with a key that can still be repeated", async () => {
    const database = await open();
    const key = { event_id: "e" };
    await insert(database, [
      ...[
        { request: 1 },
        { request: 2, time: 51, ...key },
        { request: 2, position: 1, time: 1 },
        { request: 3, time: 50, ...key },
        { request: 4, time: 51, ...key },
      ],
      ...[{ request: 5 }, { request: 6, time: 51, ...key }, { app: OTHER, request: 3 }, { app: OTHER, request: 4, time: 51, ...key }],
    ]);
    await database.write((tx) => log.deleteEventsBetween(tx, APP, 1, 5, 50));
    expect(await left(database)).toEqual(["1.0", "2.0", "2.1", "4.0", "6.0"]);
    expect(await left(database, OTHER)).toEqual(["3.0", "4.0"]);
  });

  test("the expired requests of a page end before the first one that arrived later", async () => {
    const database = await open();
    await insert(database, [
      ...[
        { request: 8, received: 10 },
        { request: 9, received: 10 },
        { request: 9, position: 1, received: 10 },
        { request: 10, received: 11 },
        { request: 11, received: 10 },
      ],
      ...[7, 8, 9, 10].map((request) => ({ app: OTHER, request, received: 1 })),
    ]);
    const expired = (after: number, received: number, rows = 100) => log.findExpired(database.reader, APP, after, received, rows);
    expect([await expired(0, 11), await expired(0, 12), await expired(0, 10), await expired(8, 11), await expired(9, 11)]).toEqual([
      9,
      11,
      undefined,
      9,
      undefined,
    ]);
    expect([await expired(0, 12, 1), await expired(0, 12, 3), await expired(0, 12, 4)]).toEqual([8, 9, 10]);
    expect(await log.listAppsWithEvents(database.reader)).toEqual([APP, OTHER]);
  });

  test("the events of a request can be read from either end and between two times, with the request's own device", async () => {
    const database = await open();
    const { reader } = database;
    const [first, second, third] = [0, 1, 2].map((position) => ({ request: 9, position, time: 50 + position, event_id: "e", tracking: position }));
    await insert(database, [
      ...([first, second, third] as Logged[]),
      ...[
        { request: 10, event_id: "e" },
        { request: 11, tracking: 0 },
        { request: 12, tracking: 0 },
        { request: 12, position: 1, tracking: 1 },
      ],
      ...[9, 10, 11, 12].flatMap((request) => [
        { app: OTHER, request, event_id: "e", tracking: 1 },
        { app: OTHER, request, position: 1, tracking: 1 },
      ]),
    ]);
    const read = async (isBackward: boolean, beyond: number, limit: number, from = 0, to = 100) => {
      const rows = await log.readEventsOfRequest(reader, APP, 9, { isBackward, beyond, times: { first: from, last: to }, limit });
      expect(rows.every(({ device }) => device === '{"advertiser_id":"1001 9"}')).toBe(true);
      return rows.map(({ position }) => position);
    };
    expect([await read(false, log.POSITION_END, 2), await read(false, 2, 9), await read(true, -1, 2), await read(true, 0, 9)]).toEqual([
      [2, 1],
      [1, 0],
      [0, 1],
      [1, 2],
    ]);
    expect([await read(true, -1, 9, 51), await read(true, -1, 9, 0, 51), await read(true, -1, 9, 51, 51)]).toEqual([[1, 2], [0, 1], [1]]);
    const devices = await log.readDevicesOfRequests(reader, APP, [10, 11, 12]);
    // order: SQL gives no order.
    expect(devices.sort()).toEqual([10, 11, 12].map((request) => `{"advertiser_id":"1001 ${request}"}`));
    expect(places(await listLoggedTexts(reader, APP, 9, 1, 2))).toEqual(["9.2", "10.0"]);
  });

  test("a list is sorted newest first, and can be limited by name and by arrival", async () => {
    const database = await open();
    await insert(database, [
      ...[
        { request: 9, received: 10 },
        { request: 10, received: 11, name: "sell" },
        { request: 10, position: 1, received: 11 },
        { request: 100, received: 12 },
      ],
      ...[9, 10, 100].map((request) => ({ app: OTHER, request, received: 12 })),
    ]);
    const list = async (name?: string, since?: number) => places((await log.listEvents(database.reader, APP, { name, since }, { limit: 10 })).rows);
    expect(await list()).toEqual(["100.0", "10.1", "10.0", "9.0"]);
    expect([await list("sell"), await list("buy"), await list(undefined, 11), await list("buy", 11), await list(undefined, 13)]).toEqual([
      ...[["10.0"], ["100.0", "10.1", "9.0"], ["100.0", "10.1", "10.0"], ["100.0", "10.1"], []],
    ]);
    const { rows } = await log.listEvents(database.reader, APP, { name: undefined, since: undefined }, { limit: 10 });
    expect(rows.map(({ device }) => device)).toEqual([100, 10, 10, 9].map((request) => `{"advertiser_id":"1001 ${request}"}`));
  });

  test("sums of a day, a name and a currency are added exactly beyond 63 bits, with their first and last time", async () => {
    const database = await open();
    const sum = (more: Partial<EventSum>): EventSum => ({
      day: 5,
      name: "buy",
      currency: "EUR",
      count: 1,
      valued: 1,
      sum: 1n,
      first_time: 50,
      last_time: 60,
      ...more,
    });
    const add = (app: typeof APP, ...sums: EventSum[]) => database.write((tx) => addSums(tx, app, sums));
    const limb = 10n ** 18n;
    await add(
      APP,
      sum({ sum: limb - 1n }),
      sum({ day: 6, sum: 0n, valued: 0 }),
      sum({ name: "sell" }),
      sum({ currency: "" }),
      sum({ day: ALL_DAYS }),
    );
    await add(OTHER, sum({ sum: 7n, first_time: 1, last_time: 99 }));
    await add(APP, sum({ sum: 3n * limb + 2n, count: 2, first_time: 49, last_time: 59 }));
    const of = async (first: number, last: number) =>
      (await readSums(database.reader, APP, first, last)).map(({ day, name, currency }) => `${day} ${name} ${currency}`);
    expect([await of(5, 5), await of(6, 9), await of(0, 4), await of(ALL_DAYS, ALL_DAYS)]).toEqual([
      ["5 buy ", "5 buy EUR", "5 sell EUR"],
      ["6 buy EUR"],
      [],
      ["-1 buy EUR"],
    ]);
    const one = (await readSums(database.reader, APP, 5, 5))[1];
    expect(one).toEqual(sum({ sum: 4n * limb + 1n, count: 3, valued: 2, first_time: 49, last_time: 60 }));
    await add(APP, sum({ first_time: 55, last_time: 61 }));
    expect((await readSums(database.reader, APP, 5, 5))[1]).toMatchObject({ first_time: 49, last_time: 61, sum: 4n * limb + 2n });
  });

  test("names belong to one app", async () => {
    const database = await open();
    const { reader } = database;
    await database.write(async (tx) => {
      await insertNames(tx, APP, ["c", "a", "b"]);
      await insertNames(tx, OTHER, ["a"]);
    });
    expect(await database.write((tx) => setNameActive(tx, APP, "a", false))).toBe(true);
    expect(await database.write((tx) => setNameActive(tx, OTHER, "b", false))).toBe(false);
    expect([await countActiveNames(reader, APP), await countActiveNames(reader, OTHER)]).toEqual([2, 1]);
    expect(await listNames(reader, APP)).toEqual([
      { name: "a", active: 0 },
      { name: "b", active: 1 },
      { name: "c", active: 1 },
    ]);
    expect(await findNames(reader, APP, ["a", "b", "d"])).toEqual(
      new Map([
        ["a", false],
        ["b", true],
      ]),
    );
  });

  test("an emptied request keeps its rows, and so do others with its number", async () => {
    const database = await open();
    await insert(database, [
      { request: 9, event_id: "e" },
      { request: 9, position: 1, event_id: "f" },
      { request: 10, event_id: "e" },
      { app: OTHER, request: 9, event_id: "e" },
    ]);
    expect(await database.write((tx) => emptyRequest(tx, APP, 9, "{}"))).toBe(2);
    const texts = async (app: typeof APP) =>
      (await listLoggedTexts(database.reader, app, 0, 0, 9)).map(({ event_id, parameters, device }) => ({ event_id, parameters, device }));
    const untouched = (app: string, request: number) => ({ event_id: "e", parameters: "", device: `{"advertiser_id":"${app} ${request}"}` });
    expect(await texts(APP)).toEqual([
      { event_id: null, parameters: "{}", device: "{}" },
      { event_id: null, parameters: "{}", device: null },
      untouched("1001", 10),
    ]);
    expect(await texts(OTHER)).toEqual([untouched("1002", 9)]);
  });

  test("D-71: the events of any number of keys are those of the app that still have an event_id", async () => {
    const database = await open();
    const many = Array.from({ length: 100 }, (_, at) => at);
    await insert(database, [
      ...many.map((key) => ({ request: 9, position: key, event_id: `e${key}`, key })),
      { request: 10, event_id: "other", key: 5 },
      { request: 11, event_id: "e5", key: 5, time: 51 },
      { app: OTHER, request: 9, event_id: "e5", key: 5 },
    ]);
    const keyed = async (...keys: number[]) =>
      (await log.findKeyedEvents(database.reader, APP, keys)).map(({ name, event_id, time }) => `${name} ${event_id} ${time}`).sort();
    expect(await keyed(5, 6, 100)).toEqual(["buy e5 50", "buy e5 51", "buy e6 50", "buy other 50"]);
    expect(await keyed(...many)).toHaveLength(102);
    expect(await keyed()).toEqual([]);
    await database.write((tx) => emptyRequest(tx, APP, 9, "{}"));
    expect(await keyed(...many)).toEqual(["buy e5 51", "buy other 50"]);
  });

  if (kind === "sqlite")
    test("D-71: the events of a key are found through the index of keys, not among all events of the app", async () => {
      const { reader } = await open();
      const plans: string[] = [];
      const all: Reader["all"] = async ({ query, values }) => {
        const plan = await reader.all<{ detail: string }>({ query: { text: `EXPLAIN QUERY PLAN ${query.text}` }, values });
        plans.push(...plan.map(({ detail }) => detail).filter((detail) => detail.includes(" e ")));
        return [];
      };
      await log.findKeyedEvents({ ...reader, all }, APP, [1, 2, 3]);
      expect(plans).toEqual(new Array(4).fill("SEARCH e USING INDEX app_events_by_key (key=?)"));
    });
});
