import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { findRequests, findTies, indexDevices } from "./devices.store.ts";
import { deleteEventsBetween, deleteEventsOfApp, emptyRequest, insertEvents } from "./log.store.ts";

/** Two apps that have the same requests, in opposite orders. A search for one app must not find requests of the other app. */
const APPS = [nodeId("1001"), nodeId("1002")] as const;
const PHONE = "1b671a64-40d5-491e-99b0-da01ff1f3341";
const INSTALL = ":MOBILE_APP_INSTALL";
const TIME = 1_000_000;

/** A request with two events called `name`. */
const request = fc.record({
  advertiser_id: fc.constantFrom(undefined, "a", "b", PHONE),
  attribution: fc.constantFrom("x".repeat(22), "y".repeat(22), undefined),
  em: fc.constantFrom(undefined, undefined, "1".repeat(64), "2".repeat(64)),
  name: fc.constantFrom("buy", "buy", "buy", INSTALL),
});
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

const identitiesOf = ({ advertiser_id, attribution, em }: Request): string[] => [
  ...(advertiser_id === undefined ? [] : [`device:${advertiser_id}`]),
  ...(attribution === undefined ? [] : [`cookie:${attribution}`]),
  ...(em === undefined ? [] : [`em:${em}`]),
];
/** Returns the device and the person that a request names together, as one text; the text is empty if the request does not name both. */
const tieOf = (one: Request): string => {
  const tied = identitiesOf(one);
  return one.em === undefined || tied.length < 2 ? "" : tied.join(" ");
};

/** Returns the log rows of a request. `device` is the device as JSON text, as the log has it. */
const rowsOf = (app: string, request: number, { name }: Request, device: string) =>
  [device, null].flatMap((ofRow, position) => [app, request, position, TIME, TIME, name, null, null, null, "", "", 1, ofRow]);

const deviceOf = ({ em, advertiser_id, attribution }: Request): string =>
  JSON.stringify({ advertiser_id, attribution, ud: em === undefined ? undefined : { em } });

async function addRequests(database: Database, app: NodeId, first: number, added: readonly Request[]): Promise<void> {
  await database.write(async (tx) => {
    await insertEvents(
      tx,
      added.flatMap((one, at) => rowsOf(app, first + at, one, deviceOf(one))),
    );
    await indexDevices(
      tx,
      app,
      added.map((one, at) => ({ request: first + at, identities: identitiesOf(one), name: one.name })),
    );
  });
}

const history = fc.record({
  added: fc.array(request, { minLength: 1, maxLength: 40 }),
  /** The number of requests that the test deletes, beginning with the oldest request. */
  expired: fc.nat(40),
  /** The requests that arrive after the test has deleted requests. */
  later: fc.array(request, { maxLength: 10 }),
});

/** Returns all requests that the index finds, in the order of the index, read in pages of `limit`. */
async function allRequests({ reader }: Database, wanted: { ids: string[]; kind: string | undefined; isBackward: boolean; limit: number }) {
  const found: number[] = [];
  for (let from = wanted.isBackward ? 0 : Number.MAX_SAFE_INTEGER; ; ) {
    const some = await findRequests(reader, APPS[0], { ...wanted, from });
    expect(some.length).toBeLessThanOrEqual(wanted.limit);
    found.push(...some);
    if (some.length < wanted.limit) return found;
    from = some[some.length - 1] as number;
  }
}

onEachDatabase("the index of devices", (kind) => {
  const open = async (): Promise<Database> => (await openPlaza({ database: kind })).world.database;

  test("D-74: the requests of a device, with all that they tie together, are found, even after retention, and no others", async () => {
    const database = await open();
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 7 }), async ({ added, expired, later }, limit) => {
        await database.write(async (tx) => {
          for (const app of APPS) await deleteEventsOfApp(tx, app);
        });
        const all = [...added, ...later];
        const add = async (requests: readonly Request[], first: number) => {
          await addRequests(database, APPS[0], first, requests);
          await addRequests(database, APPS[1], first, requests.toReversed());
        };
        await add(added, 1);
        const last = Math.min(expired, added.length - 1);
        await database.write((tx) => deleteEventsBetween(tx, APPS[0], 0, last, TIME));
        await add(later, added.length + 1);
        const live = all.map((one, at) => ({ one, request: at + 1 })).filter(({ request }) => request > last);
        for (const ids of [["device:a"], ["device:b"], [`device:${PHONE}`, `cookie:${"x".repeat(22)}`], ["device:c"]]) {
          const wanted = live.filter(({ one }) => identitiesOf(one).some((identity) => ids.includes(identity)));
          for (const isBackward of [false, true]) {
            for (const name of [undefined, INSTALL]) {
              const due = wanted.filter(({ one }) => name === undefined || one.name === name).map(({ request }) => request);
              if (!isBackward) due.reverse();
              expect(await allRequests(database, { ids, kind: name, isBackward, limit })).toEqual(due);
            }
          }
        }
        for (const identity of ["device:a", `device:${PHONE}`, `cookie:${"y".repeat(22)}`, `em:${"1".repeat(64)}`]) {
          const newest = new Map(live.map(({ one, request }) => [tieOf(one), request]));
          const due = [...newest].filter(([tie]) => tie.split(" ").includes(identity)).map(([, request]) => request);
          // order: SQL gives no order.
          expect((await findTies(database.reader, APPS[0], [identity])).sort((one, other) => one - other)).toEqual(
            due.sort((one, other) => one - other),
          );
        }
      }),
      { numRuns: kind === "sqlite" ? 60 : 30 },
    );
  }, 120_000);

  test("D-74: the persons of a device are read from one request, however many follow", async () => {
    const database = await open();
    const { reader } = database;
    const one: Request = { advertiser_id: "a", attribution: "x".repeat(22), em: "1".repeat(64), name: "buy" };
    for (let first = 1; first <= 300; first += 100) await addRequests(database, APPS[0], first, new Array<Request>(100).fill(one));
    for (const identity of identitiesOf(one)) expect(await findTies(reader, APPS[0], [identity])).toEqual([300]);
    await addRequests(database, APPS[0], 301, new Array<Request>(10).fill({ ...one, attribution: undefined }));
    await addRequests(database, APPS[0], 311, new Array<Request>(10).fill({ ...one, em: undefined }));
    expect((await findTies(reader, APPS[0], ["device:a"])).sort()).toEqual([300, 310]);
    expect(await findTies(reader, APPS[0], [`cookie:${one.attribution}`])).toEqual([300]);
    expect((await findTies(reader, APPS[0], [`em:${one.em}`])).sort()).toEqual([300, 310]);
    expect(await findTies(reader, APPS[1], ["device:a"])).toEqual([]);
  });

  test("a deleted or emptied request leaves nothing in the index, whatever other requests and apps have", async () => {
    const database = await open();
    const all: Request[] = [
      { advertiser_id: "a", attribution: "x".repeat(22), em: "1".repeat(64), name: "buy" },
      { advertiser_id: "b", attribution: "y".repeat(22), em: "2".repeat(64), name: INSTALL },
    ];
    for (const app of APPS) await addRequests(database, app, 1, all);
    const entries = async (app: NodeId, request: number) => {
      const counts = await database.reader.get<{ devices: number; ties: number }>(sql`
        SELECT (SELECT COUNT(*) FROM app_event_devices d WHERE d.app = ${app} AND d.request = ${request}) AS devices,
          (SELECT COUNT(*) FROM app_event_ties t WHERE t.app = ${app} AND t.request = ${request}) AS ties`);
      return [counts?.devices, counts?.ties];
    };
    const ofBoth = async (app: NodeId) => [await entries(app, 1), await entries(app, 2)];
    const [first, second] = [
      [2, 3],
      [4, 3],
    ];
    expect([await ofBoth(APPS[0]), await ofBoth(APPS[1])]).toEqual([
      [first, second],
      [first, second],
    ]);
    expect(await database.write((tx) => emptyRequest(tx, APPS[0], 2, "{}"))).toBe(2);
    expect(await ofBoth(APPS[0])).toEqual([first, [0, 0]]);
    await database.write((tx) => deleteEventsBetween(tx, APPS[0], 0, 1, TIME));
    expect([await ofBoth(APPS[0]), await ofBoth(APPS[1])]).toEqual([
      [
        [0, 0],
        [0, 0],
      ],
      [first, second],
    ]);
  });
});
