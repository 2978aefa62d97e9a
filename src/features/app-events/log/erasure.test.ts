/**
 * D-172: tests that the erasure of a person deletes the person's data from the log of app events, the ids of devices and the touches of ads, in
 * whatever form the data were sent.
 */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import * as ads from "../attribution/ads.store.ts";
import { erasePerson } from "./erasure.ts";
import { findJoinedIds, JoinedIds } from "./joined-ids.store.ts";
import { insertEvents, listLoggedTexts } from "./log.store.ts";

const APP = nodeId("1001");
const OTHER = nodeId("1002");
const PHONE = "A1B2C3D4-0000-4000-8000-00000000ADA0";
const COOKIE = "abcdefghij0123456789AB";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

interface Logged {
  readonly device?: object;
  readonly parameters?: string;
  readonly event_id?: string;
}

/** Inserts one request for each list of events. The device of a request is the `device` of the request's first event. */
const insert = (database: Database, app: string, requests: readonly (readonly Logged[])[], first = 1): Promise<void> =>
  database.write((tx) =>
    insertEvents(
      tx,
      requests.flatMap((events, at) =>
        events.flatMap(({ device = {}, parameters = "", event_id }, position) => [
          ...[app, first + at, position, 100, 50, "buy", event_id ?? null, null, null, "", parameters, 1],
          position === 0 ? JSON.stringify(device) : null,
        ]),
      ),
    ),
  );

onEachDatabase("a person is erased from app events", (kind) => {
  const open = async () => (await openPlaza({ database: kind })).world;
  /** Returns the numbers of requests whose personal data were erased. */
  const emptied = async ({ reader }: Database, app = APP): Promise<number[]> =>
    (await listLoggedTexts(reader, app, 0, -1, 10_000)).filter(({ parameters }) => parameters === "{}").map(({ request }) => request);

  test("requests that name the person by a device, a hash in either case, a parameter or a key are emptied, and no others", async () => {
    const world = await open();
    const { database } = world;
    const hashes = { em: sha256("ada@example.com"), ph: sha256("4915112345678"), external_id: sha256("Ada@Example.com") };
    const upper = (ud: object) => JSON.parse(JSON.stringify(ud), (_, value) => (typeof value === "string" ? value.toUpperCase() : value));
    const requests: Record<string, Logged> = {
      "the id in upper case": { device: { advertiser_id: PHONE } },
      "the id in lower case": { device: { advertiser_id: PHONE.toLowerCase() } },
      "a cookie that is a UUID": { device: { attribution: PHONE.toLowerCase() } },
      "a parameter": { parameters: `{"note":"${PHONE} called"}` },
      "a parameter in lower case": { parameters: `{"note":"${PHONE.toLowerCase()} called"}` },
      "the key of an event": { event_id: `order-${PHONE}` },
      "a longer word": { device: { advertiser_id: `${PHONE}0` } },
      "another device": { device: { advertiser_id: "b" } },
      mail: { device: { ud: { em: hashes.em } } },
      "mail in upper case": { device: { ud: upper({ em: hashes.em }) } },
      "a cookie": { device: { attribution: COOKIE } },
      "a cookie of other letters": { device: { attribution: COOKIE.toUpperCase() } },
      telephone: { device: { ud: { ph: hashes.ph } } },
      "telephone in upper case": { device: { ud: upper({ ph: hashes.ph }) } },
      "external id": { device: { ud: { external_id: hashes.external_id } } },
      "external id in upper case": { device: { ud: upper({ external_id: hashes.external_id }) } },
    };
    const names = Object.keys(requests);
    await insert(
      database,
      APP,
      Object.values(requests).map((one) => [one]),
    );
    let before: number[] = [];
    const erasedBy = async (...ids: string[]) => {
      const { "app events": events } = await erasePerson(world, ids);
      const after = await emptied(database);
      const fresh = after.filter((request) => !before.includes(request));
      before = after;
      expect(events).toBe(fresh.length);
      return fresh.map((request) => names[request - 1]);
    };
    // The erasure of the id in lower case does not find texts with the id in upper case; the next erasure does.
    expect(await erasedBy(PHONE.toLowerCase())).toEqual([
      ...["the id in upper case", "the id in lower case", "a cookie that is a UUID", "a parameter in lower case"],
    ] as string[]);
    expect(await erasedBy(PHONE)).toEqual(["a parameter", "the key of an event"]);
    expect(await erasedBy(" ADA@example.com")).toEqual(["mail", "mail in upper case"]);
    expect(await erasedBy("+49 151 12345678", COOKIE)).toEqual(["a cookie", "telephone", "telephone in upper case"]);
    expect(await erasedBy("Ada@Example.com")).toEqual(["external id", "external id in upper case"]);
    expect(await erasedBy("nobody")).toEqual([]);
  });

  test("a request is emptied completely, in the log of every app, after any number of others; its device is then unknown", async () => {
    const world = await open();
    const { database } = world;
    const others = Array.from({ length: 998 }, () => [{ device: { advertiser_id: "b" } }]);
    const theirs: Logged[] = [{ device: { advertiser_id: "a" }, event_id: "1" }, { event_id: "2" }, { parameters: '{"by":"ada-1"}' }];
    // The first page of the erasure ends within the person's first request, and only the last row of this request names the person.
    await insert(database, APP, [...others, theirs, [{ device: { advertiser_id: "ada-1" } }], [{ device: { advertiser_id: "b" } }]]);
    await insert(database, OTHER, [[{ device: { advertiser_id: "b" } }], [{ device: { attribution: "ada-1" } }]]);
    expect(await erasePerson(world, ["ada-1"])).toEqual({ "app events": 5, "device ids": 0, "ad touches": 0 });
    expect([await emptied(database), await emptied(database, OTHER)]).toEqual([[999, 999, 999, 1_000], [2]]);
    const rows = await listLoggedTexts(database.reader, APP, 998, 0, 5);
    const unknown = { application_tracking_enabled: 0, advertiser_tracking_enabled: 0 };
    expect(rows.map(({ device, event_id }) => ({ device: device === null ? null : JSON.parse(device), event_id }))).toEqual([
      ...[unknown, null, null, unknown, { advertiser_id: "b" }].map((device) => ({ device, event_id: null })),
    ]);
    expect(await erasePerson(world, ["ada-1"])).toMatchObject({ "app events": 0 });
  });

  test("the ids of their devices and their touches are counted and deleted, by device, cookie or hash, in either case of a UUID", async () => {
    const world = await open();
    const { database } = world;
    await database.write(async (tx) => {
      await ads.insertAd(tx, { id: "9", app: APP, campaign_id: "9", objective: "APP_INSTALLS", tracked_apps: [] });
      const ids = [`device:${PHONE.toLowerCase()}`, `cookie:${COOKIE}`, "device:b"];
      const devices = await JoinedIds.open(tx, APP, ids);
      devices.join(ids);
      devices.install(ids);
      await devices.store();
      const touches = [`device:${PHONE.toLowerCase()}`, `em:${sha256("ada@example.com")}`, "device:b"];
      for (const [at, identity] of touches.entries())
        await ads.insertTouch(tx, { id: nodeId(String(at + 1)), ad: "9", kind: "click", time: 50, identities: [identity] });
    });
    expect(await erasePerson(world, [PHONE, COOKIE])).toEqual({ "app events": 0, "device ids": 2, "ad touches": 1 });
    expect(await erasePerson(world, ["ada@example.com"])).toEqual({ "app events": 0, "device ids": 0, "ad touches": 1 });
    expect(await findJoinedIds(database.reader, APP, ["device:b", `cookie:${COOKIE}`])).toEqual(["device:b"]);
    expect((await ads.findTouches(database.reader, ["device:b"])).map(({ id }) => id)).toEqual(["3"]);
  });
});
