/** Runs of the log's index: how large they are, which of them a search reads, and what becomes of them. */
import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Database, Reader } from "#storage/database";
import { sql } from "#storage/sql";
import { deleteEventsBetween, insertEvents } from "../log/log.store.ts";
import { deviceFingerprint, TableIndex } from "./entries.store.ts";
import { keyFingerprint } from "./fingerprints.ts";
import { RunIndex } from "./runs.store.ts";
import { IN_USE_SECONDS } from "./runs.ts";

const APP = nodeId("1001");
const OTHER = nodeId("1002");
const START = 1_000_000;
/** Further than a search looks, and near enough for its run to be in use. */
const APART = 100_000;
const timeOf = (request: number): number => START + request * APART;
const fingerprintOf = (request: number): number => keyFingerprint("n", String(request));
const device = deviceFingerprint("device:a");

const open = async (): Promise<Database> => (await openPlaza()).world.database;

/** A request of two entries: its key and its device. So a run of two entries is a request's own. */
async function addRequest(database: Database, index: RunIndex, request: number, app: NodeId = APP): Promise<void> {
  const time = timeOf(request);
  await database.write(async (tx) => {
    await insertEvents(tx, [app, request, 0, time, time, "n", String(request), null, "", "", 1, '{"advertiser_id":"a"}']);
    const entries = { keys: [fingerprintOf(request), request], devices: [device, request], ties: [] };
    await index.add(tx, app, { ...entries, lastRequest: request, times: { first: time, last: time } });
  });
}

/** Requests 1 to 6: the first five are runs, the last one waits in memory. */
async function openSix() {
  const database = await open();
  const index = new RunIndex(database, 2);
  for (let request = 1; request <= 6; request++) await addRequest(database, index, request);
  return { database, index };
}

/** What `look` returns, and how many rows it read. */
async function reading<T>({ reader }: Database, look: (counted: Reader) => Promise<T>): Promise<{ found: T; reads: number }> {
  let reads = 0;
  const counted = { ...reader, get: (statement: Parameters<Reader["get"]>[0]) => reader.get(statement).finally(() => reads++) } as Reader;
  return { found: await look(counted), reads };
}

const findKey = (database: Database, index: RunIndex, request: number, time = timeOf(request), within = 10) =>
  reading(database, async (reader) =>
    (await index.findKeys(reader, APP, [{ fingerprint: fingerprintOf(request), time }], within)).get(fingerprintOf(request)),
  );

const runsOf = ({ reader }: Database, app: NodeId = APP) =>
  reader.all<{ last_request: number; entries: number }>(
    sql`SELECT r.last_request, r.entries FROM app_event_runs r WHERE r.app = ${app} ORDER BY r.last_request`,
  );
const pagesOf = async ({ reader }: Database, app: NodeId): Promise<number[]> =>
  (
    await reader.all<{ last_request: number }>(
      sql`SELECT DISTINCT p.last_request FROM app_event_run_pages p WHERE p.app = ${app} ORDER BY p.last_request`,
    )
  ).map(({ last_request }) => last_request);

test("a key that is new costs no read, and one that is known a page: of the run that has it, if its time is near", async () => {
  const { database, index } = await openSix();
  expect(await findKey(database, index, 99, timeOf(3))).toEqual({ found: undefined, reads: 0 });
  expect(await findKey(database, index, 3)).toEqual({ found: [3], reads: 1 });
  expect(await findKey(database, index, 3, timeOf(9))).toEqual({ found: undefined, reads: 0 });
  expect(await findKey(database, index, 6)).toEqual({ found: [6], reads: 0 });
  // Another process reads the filter of the run of that time once.
  const again = new RunIndex(database, 2);
  expect(await findKey(database, again, 99, timeOf(3))).toEqual({ found: undefined, reads: 1 });
  expect(await findKey(database, again, 98, timeOf(3))).toEqual({ found: undefined, reads: 0 });
  expect(await findKey(database, again, 3)).toEqual({ found: [3], reads: 1 });
  expect(await findKey(database, again, 6)).toEqual({ found: [6], reads: 0 });
  expect(await findKey(database, again, 99, timeOf(3), APART + 1)).toEqual({ found: undefined, reads: 2 });
});

test("a device's requests are read from the runs beyond the one that was shown, and from no more than are needed", async () => {
  const { database } = await openSix();
  const index = new RunIndex(database, 2);
  const find = (isBackward: boolean, from: number, limit: number) =>
    reading(database, (reader) => index.findRequests(reader, APP, { ids: ["device:a"], kind: undefined, isBackward, from, limit }));
  expect(await find(false, 4, 9)).toEqual({ found: [3, 2, 1], reads: 3 });
  expect(await find(false, 4, 2)).toEqual({ found: [3, 2], reads: 2 });
  expect(await find(false, 7, 2)).toEqual({ found: [6, 5], reads: 1 });
  expect(await find(false, 1, 9)).toEqual({ found: [], reads: 0 });
  expect(await find(false, 2, 9)).toEqual({ found: [1], reads: 1 });
  expect(await find(true, 2, 9)).toEqual({ found: [3, 4, 5, 6], reads: 3 });
  expect(await find(true, 2, 3)).toEqual({ found: [3, 4, 5], reads: 3 });
  expect(await find(true, 2, 2)).toEqual({ found: [3, 4], reads: 2 });
  expect(await find(true, 5, 9)).toEqual({ found: [6], reads: 0 });
});

/** Entries of keys alone, without their log. */
async function addKeys(database: Database, index: RunIndex, request: number, count: number, time: number, app: NodeId = APP): Promise<void> {
  const keys = Array.from({ length: count }, (_, at) => [request * 1_000_000 + at + 1, request]).flat();
  await database.write((tx) => index.add(tx, app, { keys, devices: [], ties: [], lastRequest: request, times: { first: time, last: time } }));
}

test("a run has an eighth of the entries of those in use, and those that are older than any search do not count", async () => {
  const database = await open();
  const index = new RunIndex(database, 2);
  const sizes = async (app: NodeId): Promise<number[]> => (await runsOf(database, app)).map(({ entries }) => entries);
  for (const app of [APP, OTHER]) for (let request = 1; request <= 32; request++) await addKeys(database, index, request, 1, START, app);
  const first = [...new Array<number>(9).fill(2), 3, 3, 3, 4];
  expect([await sizes(APP), await sizes(OTHER)]).toEqual([first, first]);
  // One key waits, of the time of the runs. The runs are in use for a second more in the second app.
  for (const [app, last] of [
    [APP, START + IN_USE_SECONDS],
    [OTHER, START + IN_USE_SECONDS - 1],
  ] as const)
    for (let request = 33; request <= 37; request++) await addKeys(database, index, request, 1, last, app);
  expect([(await sizes(APP)).slice(first.length), (await sizes(OTHER)).slice(first.length)]).toEqual([[2, 2], [4]]);
});

test("a run has 65,536 entries at least, and 262,144 at most, however many there are", async () => {
  const database = await open();
  for (const [app, inUse, size] of [
    [APP, 1, 65_536],
    [OTHER, 10_000_000, 262_144],
  ] as const) {
    await database.write((tx) =>
      tx.runOne(sql`INSERT INTO app_event_runs (app, last_request, entries, page_bits, first_time, last_time, filter)
        VALUES (${app}, 1, ${inUse}, 0, ${START}, ${START}, ${new Uint8Array(64)})`),
    );
    const index = new RunIndex(database);
    await addKeys(database, index, 2, size - 1, START, app);
    await addKeys(database, index, 3, 1, START, app);
    expect(await runsOf(database, app)).toHaveLength(1);
    await addKeys(database, index, 4, 1, START, app);
    expect((await runsOf(database, app)).slice(1)).toEqual([{ last_request: 3, entries: size }]);
  }
});

test("a run of requests that an earlier process left has their times and their number, so that their keys are found when it is read again", async () => {
  const { database } = await openSix();
  await database.write(async (tx) => {
    await tx.run(sql`DELETE FROM app_event_runs`);
    await tx.run(sql`DELETE FROM app_event_run_pages`);
  });
  const index = new RunIndex(database, 2);
  await addRequest(database, index, 7);
  expect(await runsOf(database)).toEqual([{ last_request: 6, entries: 12 }]);
  for (const one of [index, new RunIndex(database, 2)])
    for (const request of [1, 6, 7]) expect((await findKey(database, one, request)).found).toEqual([request]);
});

test("a run whose transaction is undone is written with the next one, and its keys are found all the time", async () => {
  const { database, index } = await openSix();
  const undone = database.write(async (tx) => {
    const time = timeOf(7);
    await index.add(tx, APP, { keys: [fingerprintOf(7), 7], devices: [device, 7], ties: [], lastRequest: 7, times: { first: time, last: time } });
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  const last = async () => (await runsOf(database)).at(-1);
  expect([(await findKey(database, index, 6)).found, (await findKey(database, index, 7)).found, await last()]).toEqual([
    ...[[6], undefined],
    { last_request: 5, entries: 2 },
  ]);
  await addRequest(database, index, 7);
  expect(await last()).toEqual({ last_request: 6, entries: 2 });
  for (const one of [index, new RunIndex(database, 2)])
    expect([(await findKey(database, one, 6)).found, (await findKey(database, one, 7)).found]).toEqual([[6], [7]]);
});

async function forget(database: Database, index: RunIndex, last: number): Promise<void> {
  await database.write(async (tx) => {
    await deleteEventsBetween(tx, APP, 0, last, timeOf(99));
    await index.forgetUpTo(tx, APP, last);
  });
}

test("runs go with the last of their requests, up to a number, and leave nothing behind that is stored or searched", async () => {
  const { database, index } = await openSix();
  for (let request = 1; request <= 6; request++) await addRequest(database, index, request, OTHER);
  const again = new RunIndex(database, 2);
  await findKey(database, again, 99, timeOf(9));
  await forget(database, again, 3);
  expect((await runsOf(database)).map(({ last_request }) => last_request)).toEqual([4, 5]);
  expect([await pagesOf(database, APP), await pagesOf(database, OTHER)]).toEqual([
    [4, 5],
    [1, 2, 3, 4, 5],
  ]);
  // Filters of the two that are left, of however many there were.
  expect(await findKey(database, again, 99, timeOf(3), 9 * APART)).toEqual({ found: undefined, reads: 2 });
  await forget(database, again, 5);
  expect([await runsOf(database), await pagesOf(database, APP)]).toEqual([[], []]);
  expect((await runsOf(database, OTHER)).map(({ last_request }) => last_request)).toEqual([1, 2, 3, 4, 5]);
});

test("a run stays as long as one of its requests is in the log, also the first of all", async () => {
  const { database, index } = await openSix();
  await database.write((tx) => index.forgetUpTo(tx, APP, 5));
  expect((await runsOf(database)).map(({ last_request }) => last_request)).toEqual([1, 2, 3, 4, 5]);
  expect((await findKey(database, new RunIndex(database, 2), 1)).found).toEqual([1]);
});

test("it stays also where the runs of another app end between its requests", async () => {
  const database = await open();
  const [own, other] = [new RunIndex(database, 4), new RunIndex(database, 2)];
  for (let request = 1; request <= 6; request++) {
    await addRequest(database, own, request);
    await addRequest(database, other, request, OTHER);
  }
  await database.write(async (tx) => {
    await deleteEventsBetween(tx, APP, 1, 2, timeOf(99));
    await own.forgetUpTo(tx, APP, 4);
  });
  expect((await runsOf(database)).map(({ last_request }) => last_request)).toEqual([2, 4]);
  expect((await findKey(database, new RunIndex(database, 4), 1)).found).toEqual([1]);
});

test("keys of runs that are all gone cost the process that wrote them no read", async () => {
  const { database, index } = await openSix();
  await forget(database, index, 5);
  expect(await findKey(database, index, 4)).toEqual({ found: undefined, reads: 0 });
  expect((await findKey(database, index, 6)).found).toEqual([6]);
});

test("a run that is deleted while another process knows of it is searched in vain", async () => {
  const { database } = await openSix();
  const known = new RunIndex(database, 2);
  await findKey(database, known, 99, timeOf(9));
  await forget(database, new RunIndex(database, 2), 5);
  expect((await findKey(database, known, 3)).found).toBeUndefined();
  const wanted = { ids: ["device:a"], kind: undefined, isBackward: false, from: 9, limit: 9 };
  expect(await known.findRequests(database.reader, APP, wanted)).toEqual([6]);
  expect(await known.findTies(database.reader, APP, ["device:a"])).toEqual([]);
});

test("what could not be read is read with the next search", async () => {
  const { database } = await openSix();
  const { reader } = database;
  let isFailing = true;
  const all: Reader["all"] = (statement) => (isFailing ? Promise.reject(new Error("no connection")) : reader.all(statement));
  const failing = { ...reader, get: reader.get.bind(reader), all } as Reader;
  const runs = new RunIndex({ reader: failing, onInvalidate: () => {} } as unknown as Database, 2);
  const table = new TableIndex();
  const wanted = { ids: ["device:a"], kind: undefined, isBackward: false, from: 9, limit: 9 };
  for (const index of [runs, table]) {
    isFailing = true;
    await expect(index.findRequests(failing, APP, wanted)).rejects.toThrow("no connection");
    isFailing = false;
    expect(await index.findRequests(failing, APP, wanted)).toEqual(index === runs ? [6, 5, 4, 3, 2, 1] : []);
  }
});
