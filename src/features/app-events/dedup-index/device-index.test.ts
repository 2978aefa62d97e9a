import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { isDevice } from "../intake/parse-request.ts";
import { deleteEventsBetween, deleteEventsOfApp, insertEvents } from "../log/log.store.ts";
import { addEntriesOf, type LogIndex, type RequestEntries, TableIndex } from "./entries.store.ts";
import { RunIndex } from "./runs.store.ts";

/** The same requests, in either order, are in the log of each; what one app has is not found for the other. */
const APPS = [nodeId("1001"), nodeId("1002")] as const;
/** Small, so that a few dozen requests fill several runs. */
const SMALL_RUN = 12;
const PHONE = "1b671a64-40d5-491e-99b0-da01ff1f3341";
const INSTALL = ":MOBILE_APP_INSTALL";
const TIME = 1_000_000;

const indexOn = (database: Database): LogIndex => (database.dialect === "sqlite" ? new RunIndex(database, SMALL_RUN) : new TableIndex());

/** A request of two events named `name`, of which one has the tracking flag if `isTracked`. */
const request = fc.record({
  advertiser_id: fc.constantFrom(undefined, "a", "b", PHONE),
  attribution: fc.constantFrom("x".repeat(22), "y".repeat(22), undefined),
  em: fc.constantFrom(undefined, undefined, "1".repeat(64), "2".repeat(64)),
  name: fc.constantFrom("buy", "buy", "buy", INSTALL),
  isTracked: fc.boolean(),
});
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

const identitiesOf = ({ advertiser_id, attribution, em }: Request): string[] => [
  ...(advertiser_id === undefined ? [] : [`device:${advertiser_id}`]),
  ...(attribution === undefined ? [] : [`cookie:${attribution}`]),
  ...(em === undefined ? [] : [`em:${em}`]),
];
/** What a request ties together, as one text; empty for nothing. */
const tieOf = (one: Request): string => {
  const tied = identitiesOf(one).filter((identity) => one.isTracked || isDevice(identity));
  return tied.length < 2 ? "" : tied.join(" ");
};

/** `device`: as JSON in the log. */
const rowsOf = (app: string, request: number, { name, isTracked }: Request, device: string) =>
  [isTracked && request % 2 === 0, isTracked && request % 2 === 1].flatMap((tracking, position) => {
    return [app, request, position, TIME, TIME, name, null, null, "", "", tracking ? 1 : 0, position === 0 ? device : null];
  });

const deviceOf = ({ em, advertiser_id, attribution }: Request): string =>
  JSON.stringify({ advertiser_id, attribution, ud: em === undefined ? undefined : { em } });

async function addRequest(database: Database, index: LogIndex, app: NodeId, request: number, added: Request): Promise<void> {
  await database.write(async (tx) => {
    await insertEvents(tx, rowsOf(app, request, added, deviceOf(added)));
    const entries: RequestEntries = { devices: [], ties: [] };
    addEntriesOf({ identities: identitiesOf(added), name: added.name, isTracked: added.isTracked }, request, entries);
    await index.add(tx, app, { keys: [], ...entries, lastRequest: request, times: { first: TIME, last: TIME } });
  });
}

const history = fc.record({
  added: fc.array(request, { minLength: 1, maxLength: 40 }),
  /** So many of the oldest requests are deleted, */
  expired: fc.nat(40),
  /** and some follow. */
  later: fc.array(request, { maxLength: 10 }),
});

/** All requests that the index finds, in its order, read in pieces of `limit`. */
async function allRequests(
  database: Database,
  index: LogIndex,
  wanted: { ids: string[]; kind: string | undefined; isBackward: boolean; limit: number },
) {
  const found: number[] = [];
  for (let from = wanted.isBackward ? 0 : Number.MAX_SAFE_INTEGER; ; ) {
    const some = await index.findRequests(database.reader, APPS[0], { ...wanted, from });
    expect(some.length).toBeLessThanOrEqual(wanted.limit);
    found.push(...some);
    if (some.length < wanted.limit) return found;
    from = some[some.length - 1] as number;
  }
}

onEachDatabase("devices and ties in the index of the log", (kind) => {
  test("D-74: the requests of a device and all that they tie are found, after retention and a restart too, few in vain", async () => {
    const { world } = await openPlaza({ database: kind });
    const { database } = world;
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 7 }), async ({ added, expired, later }, limit) => {
        await database.write(async (tx) => {
          for (const app of APPS) await deleteEventsOfApp(tx, app);
        });
        const all = [...added, ...later];
        const index = indexOn(database);
        const add = async (requests: readonly Request[], first: number) => {
          for (const [at, one] of requests.entries()) {
            await addRequest(database, index, APPS[0], first + at, one);
            await addRequest(database, index, APPS[1], first + at, requests[requests.length - 1 - at] as Request);
          }
        };
        await add(added, 1);
        const last = Math.min(expired, added.length - 1);
        await database.write(async (tx) => {
          await deleteEventsBetween(tx, APPS[0], 0, last, TIME);
          await index.forgetUpTo(tx, APPS[0], last);
        });
        await add(later, added.length + 1);
        const live = all.map((one, at) => ({ one, request: at + 1 })).filter(({ request }) => request > last);
        for (const read of [index, indexOn(database)]) {
          for (const ids of [["device:a"], ["device:b"], [`device:${PHONE}`, `cookie:${"x".repeat(22)}`], ["device:c"]]) {
            const wanted = live.filter(({ one }) => identitiesOf(one).some((identity) => ids.includes(identity)));
            for (const isBackward of [false, true]) {
              for (const name of [undefined, INSTALL]) {
                const found = await allRequests(database, read, { ids, kind: name, isBackward, limit });
                expect(found).toEqual([...new Set(found)].sort((one, other) => (isBackward ? one - other : other - one)));
                const due = wanted.filter(({ one }) => name === undefined || one.name === name).map(({ request }) => request);
                expect(due.filter((request) => !found.includes(request))).toEqual([]);
                // Of deleted requests something may be left.
                const inVain = found.filter((request) => request > last && !due.includes(request));
                expect(inVain).toEqual([]);
              }
            }
          }
          for (const identity of ["device:a", `device:${PHONE}`, `cookie:${"y".repeat(22)}`, `em:${"1".repeat(64)}`]) {
            const found = await read.findTies(database.reader, APPS[0], [identity]);
            const due = new Set(live.map(({ one }) => tieOf(one)).filter((tie) => tie.split(" ").includes(identity)));
            const tied = found.filter((request) => request > last).map((request) => tieOf(all[request - 1] as Request));
            expect([...due].filter((tie) => !tied.includes(tie))).toEqual([]);
            expect(
              found.filter(
                (request) =>
                  !tieOf(all[request - 1] as Request)
                    .split(" ")
                    .includes(identity),
              ),
            ).toEqual([]);
            // One request for each tie, in each run: a request has at most seven entries.
            const runs = kind === "sqlite" ? 1 + Math.ceil((all.length * 7) / SMALL_RUN) : 1;
            expect(found.length).toBeLessThanOrEqual(new Set(all.map(tieOf)).size * runs);
          }
        }
      }),
      { numRuns: kind === "sqlite" ? 60 : 30 },
    );
  }, 120_000);

  test("D-74: what ties a device together is read from one request, however many follow", async () => {
    const { world } = await openPlaza({ database: kind });
    const { database } = world;
    const index = kind === "sqlite" ? new RunIndex(database) : new TableIndex();
    const one: Request = { advertiser_id: "a", attribution: "x".repeat(22), em: "1".repeat(64), name: "buy", isTracked: true };
    for (let request = 1; request <= 300; request++) await addRequest(database, index, APPS[0], request, one);
    for (const identity of identitiesOf(one)) expect(await index.findTies(database.reader, APPS[0], [identity])).toEqual([300]);
    for (let request = 301; request <= 310; request++) await addRequest(database, index, APPS[0], request, { ...one, em: undefined });
    expect((await index.findTies(database.reader, APPS[0], ["device:a"])).sort()).toEqual([300, 310]);
    expect(await index.findTies(database.reader, APPS[0], [`em:${one.em}`])).toEqual([300]);
    expect(await index.findTies(database.reader, APPS[1], ["device:a"])).toEqual([]);
  });
});
