import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database, Reader } from "#storage/database";
import { deleteEventsBetween, insertEvents } from "../log/log.store.ts";
import { deviceFingerprint, type LogIndex, TableIndex } from "./entries.store.ts";
import { keyFingerprint } from "./fingerprints.ts";
import { RunIndex } from "./runs.store.ts";

const app = nodeId("1001");
/** Small, so that a few hundred entries fill several runs. */
const SMALL_RUN = 40;

const indexOn = (database: Database): LogIndex => (database.dialect === "sqlite" ? new RunIndex(database, SMALL_RUN) : new TableIndex());

interface Key {
  readonly event_id: string;
  readonly time: number;
}

async function addRequest(database: Database, index: LogIndex, request: number, keys: readonly Key[]): Promise<void> {
  await database.write(async (tx) => {
    const device = JSON.stringify({ advertiser_id: String(request % 7) });
    const rows = keys.flatMap(({ event_id, time }, position) => [
      app,
      request,
      position,
      time,
      time,
      "n",
      event_id,
      null,
      "",
      "",
      1,
      position === 0 ? device : null,
    ]);
    await insertEvents(tx, rows);
    const entries = keys.flatMap(({ event_id }) => [keyFingerprint("n", event_id), request]);
    const times = keys.map(({ time }) => time);
    const span = { first: Math.min(...times), last: Math.max(...times) };
    const devices = [deviceFingerprint(`device:${request % 7}`), request];
    await index.add(tx, app, { keys: entries, devices, ties: [], lastRequest: request, times: span });
  });
}

const key = fc.record({ event_id: fc.integer({ min: 0, max: 60 }).map(String), time: fc.integer({ min: 1_000_000, max: 1_600_000 }) });
const requests = fc.array(fc.array(key, { minLength: 1, maxLength: 12 }), { minLength: 25, maxLength: 60 });

onEachDatabase("the index of the log", (kind) => {
  test("every request within the window is found, after a restart too", async () => {
    const { world } = await openPlaza({ database: kind });
    const { database } = world;
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 1, max: 172_800 }), async (added, within) => {
        await forgetAll(database);
        const index = indexOn(database);
        for (const [at, keys] of added.entries()) await addRequest(database, index, at + 1, keys);
        const probes = added.flat().concat({ event_id: "absent", time: 1_300_000 });
        for (const one of [index, indexOn(database)]) {
          // On PostgreSQL there is only the table; on SQLite the second index reads the runs and the end of the log.
          const all = probes.map(({ event_id, time }) => ({ fingerprint: keyFingerprint("n", event_id), time }));
          const together = await one.findKeys(database.reader, app, all, within);
          for (const { event_id, time } of probes) {
            const fingerprint = keyFingerprint("n", event_id);
            const hasKey = (request: number) => added[request - 1]?.some((other) => other.event_id === event_id);
            expect((together.get(fingerprint) ?? []).every(hasKey)).toBeTrue();
            const found = (await one.findKeys(database.reader, app, [{ fingerprint, time }], within)).get(fingerprint) ?? [];
            const due = added.flatMap((keys, at) =>
              keys.some((other) => other.event_id === event_id && Math.abs(other.time - time) < within) ? [at + 1] : [],
            );
            expect(due.filter((request) => !found.includes(request))).toEqual([]);
            expect(found.every(hasKey)).toBeTrue();
          }
        }
      }),
      { numRuns: kind === "sqlite" ? 25 : 5 },
    );
  }, 60_000);

  test("entries of deleted requests are removed, and the others are found", async () => {
    const { world } = await openPlaza({ database: kind });
    const { database } = world;
    const index = indexOn(database);
    for (let request = 1; request <= 100; request++)
      await addRequest(database, index, request, [{ event_id: String(request % 50), time: 1_000_000 + request }]);
    await database.write(async (tx) => {
      // Request 10 is kept.
      await deleteEventsBetween(tx, app, 0, 9, 2_000_000);
      await deleteEventsBetween(tx, app, 10, 60, 2_000_000);
      await index.forgetUpTo(tx, app, 60);
    });
    for (const one of [index, indexOn(database)]) {
      const requestsOf = async (event_id: string) => {
        const fingerprint = keyFingerprint("n", event_id);
        return (await one.findKeys(database.reader, app, [{ fingerprint, time: 1_000_070 }], 172_800)).get(fingerprint) ?? [];
      };
      // Runs are deleted whole, so a run with newer requests may still contain older ones.
      expect(await requestsOf("20")).toContain(70);
      expect(await requestsOf("10")).toContain(10);
      expect(await requestsOf("35")).not.toContain(35);
      const wanted = { ids: ["device:3"], kind: undefined, isBackward: false, from: 101, limit: 5 };
      expect(await one.findRequests(database.reader, app, wanted)).toEqual([94, 87, 80, 73, 66]);
    }
  });
});

test("what a process knows of the index is void when the state of the world is another", async () => {
  const { database } = (await openPlaza()).world;
  const index = new RunIndex(database);
  await addRequest(database, index, 1, [{ event_id: "1", time: 1_000_000 }]);
  const fingerprint = keyFingerprint("n", "1");
  const find = async () => (await index.findKeys(database.reader, app, [{ fingerprint, time: 1_000_000 }], 10)).get(fingerprint);
  expect(await find()).toEqual([1]);
  await database.restoreState(undefined);
  expect(await find()).toBeUndefined();
});

test("runs whose requests were all deleted are not searched any more", async () => {
  const { database } = (await openPlaza()).world;
  const index = new RunIndex(database, SMALL_RUN);
  for (let request = 1; request <= 100; request++)
    await addRequest(database, index, request, [{ event_id: String(request), time: 1_000_000 + request }]);
  const { reader } = database;
  const countReads = async (): Promise<number> => {
    let count = 0;
    const counted = { ...reader, get: (statement: Parameters<typeof reader.get>[0]) => reader.get(statement).finally(() => count++) } as Reader;
    await index.findTies(counted, app, ["nobody"]);
    return count;
  };
  expect(await countReads()).toBeGreaterThan(1);
  await database.write(async (tx) => {
    await deleteEventsBetween(tx, app, 0, 100, 2_000_000);
    await index.forgetUpTo(tx, app, 100);
  });
  expect(await countReads()).toBe(0);
});

async function forgetAll(database: Database): Promise<void> {
  await database.write(async (tx) => {
    const all = Number.MAX_SAFE_INTEGER - 1;
    await deleteEventsBetween(tx, app, 0, all, all);
    for (const index of [new TableIndex(), new RunIndex(database)]) await index.forgetUpTo(tx, app, all);
  });
}
