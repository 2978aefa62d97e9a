/** Entries of the log's index that wait in memory: none is lost or counted twice when the log is read meanwhile. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { insertEvents } from "../log/log.store.ts";
import { type NewEntries, TableIndex } from "./entries.store.ts";
import { fingerprintOf, keyFingerprint } from "./fingerprints.ts";
import { addPending, loadPending, nothingPending, type Pending, sizeOf, TieTable } from "./pending-entries.ts";
import { logIndexOf, RunIndex } from "./runs.store.ts";

const APP = nodeId("1001");

const entriesOf = (request: number): NewEntries => ({
  keys: [keyFingerprint("n", String(request)), request],
  devices: [],
  ties: [],
  lastRequest: request,
  times: { first: request, last: request },
});
const requestsOf = ({ keys }: Pending): number[] => {
  const found: number[] = [];
  keys.visit((_fingerprint, request) => found.push(request));
  return found;
};

test("what is committed while the log is read waits, and is added after it unless the log has shown it", async () => {
  const { database } = (await openPlaza()).world;
  await database.write((tx) =>
    insertEvents(
      tx,
      [1, 2, 3].flatMap((request) => [APP, request, 0, request, request, "n", String(request), null, "", "", 1, "{}"]),
    ),
  );
  const pending = nothingPending(0, []);
  for (const request of [3, 4, 5]) addPending(pending, entriesOf(request));
  expect([requestsOf(pending), pending.lastRequest]).toEqual([[], 0]);
  await loadPending(database.reader, APP, 1, pending);
  expect([requestsOf(pending), sizeOf(pending), pending.lastRequest]).toEqual([[2, 3, 4, 5], 4, 5]);
  for (const request of [5, 6]) addPending(pending, entriesOf(request));
  expect([requestsOf(pending), pending.lastRequest, pending.times]).toEqual([[2, 3, 4, 5, 6], 6, { first: 2, last: 6 }]);
});

test("of each identity and each signature the newest request is kept, of however many", () => {
  const ties = new TieTable();
  const [identities, signatures] = [Array.from({ length: 60 }, (_, at) => fingerprintOf(`id ${at}`)), Array.from({ length: 50 }, (_, at) => at + 1)];
  let request = 0;
  for (let round = 0; round < 2; round++)
    for (const identity of identities) for (const signature of signatures) ties.set(identity, signature, ++request);
  expect(ties.requests.size).toBe(3_000);
  for (const [at, identity] of identities.entries()) {
    const found: number[] = [];
    ties.requests.collect(identity, found);
    expect(found.sort((one, other) => one - other)).toEqual(signatures.map((signature) => 3_000 + at * 50 + signature));
  }
});

onEachDatabase("the index of a world", (kind) => {
  test("is one for all who ask, in the form of its database", async () => {
    const [{ world }, { world: another }] = [await openPlaza({ database: kind }), await openPlaza({ database: kind })];
    expect(logIndexOf(world)).toBeInstanceOf(kind === "sqlite" ? RunIndex : TableIndex);
    expect(logIndexOf(world)).toBe(logIndexOf(world));
    expect(logIndexOf(world)).not.toBe(logIndexOf(another));
  });
});
