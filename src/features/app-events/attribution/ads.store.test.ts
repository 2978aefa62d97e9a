/**
 * Tests which rows of ads and touches an SQL statement selects: each test also stores equal rows of another ad or person, and rows at the first and
 * last second of a time span.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { deviceIdentities, isDevice, isUuid } from "../intake/parse-request.ts";
import * as ads from "./ads.store.ts";

const [APP, OTHER] = [nodeId("1001"), nodeId("1002")];
const NO_ID = "00000000-0000-0000-0000-000000000000";
const UUID = "1B671A64-40D5-491E-99B0-DA01FF1F3341";

onEachDatabase("ads", (kind) => {
  /** Stores the ads 9 and 100 of the app, and the ad 10 of another app. Each of the ads tracks both apps. */
  async function open(): Promise<Database> {
    const { database } = (await openPlaza({ database: kind })).world;
    const both = { campaign_id: "7", objective: "LINK_CLICKS", tracked_apps: [APP, OTHER] };
    await database.write(async (tx) => {
      for (const ad of [
        { id: "100", app: APP },
        { id: "10", app: OTHER },
        { id: "9", app: APP },
      ])
        expect(await ads.insertAd(tx, { ...both, ...ad })).toBe(true);
      expect(await ads.insertAd(tx, { ...both, id: "9", app: OTHER })).toBe(false);
    });
    return database;
  }
  const touch = (database: Database, id: string, ad: string, time: number, identities: readonly string[]) =>
    database.write((tx) => ads.insertTouch(tx, { id: nodeId(id), ad, kind: "click", time, identities }));
  const listed = async ({ reader }: Database): Promise<string[]> =>
    (await ads.listAds(reader, { limit: 10 })).rows.map(({ id, tracked_apps }) => `${id} ${tracked_apps.join("+")}`);
  const found = async ({ reader }: Database, ...identities: string[]): Promise<string[]> =>
    // order: attribution finds the latest touch itself.
    (await ads.findTouches(reader, identities)).map(({ id }) => id).sort((one, other) => Number(one) - Number(other));

  test("a removed app is tracked by no ad, and its own ads are deleted with their touches", async () => {
    const database = await open();
    await touch(database, "1", "9", 50, ["device:a"]);
    await touch(database, "2", "10", 50, ["device:a"]);
    await database.write((tx) => ads.saveAd(tx, { id: "9", app: APP, campaign_id: "8", objective: "APP_INSTALLS", tracked_apps: [] }));
    expect(await ads.findAd(database.reader, OTHER, "9")).toBeUndefined();
    expect(await ads.findAd(database.reader, APP, "9")).toEqual({ id: "9", app: APP, campaign_id: "8", objective: "APP_INSTALLS", tracked_apps: [] });
    expect(await listed(database)).toEqual(["9 ", "10 1001+1002", "100 1001+1002"]);
    await database.write((tx) => ads.untrackApp(tx, APP));
    expect(await listed(database)).toEqual(["9 ", "10 1002", "100 1002"]);
    await database.write((tx) => ads.deleteAdsOfApp(tx, APP));
    expect(await listed(database)).toEqual(["10 1002"]);
    expect(await found(database, "device:a")).toEqual(["2"]);
    expect(await database.reader.all(sql`SELECT i.touch FROM ad_touch_identities i`)).toEqual([{ touch: 2 }]);
    expect(await database.write((tx) => ads.deleteAd(tx, "9"))).toBe(false);
  });

  test("touches are found by any of their identities, each once, and a person's touches are deleted completely", async () => {
    const database = await open();
    await touch(database, "1", "9", 50, ["device:a", "em:x"]);
    await touch(database, "2", "9", 50, ["device:b", "em:x", "em:x"]);
    await touch(database, "3", "10", 50, ["device:b"]);
    expect([await found(database, "device:a", "em:x"), await found(database, "device:b"), await found(database, "device:c")]).toEqual([
      ["1", "2"],
      ["2", "3"],
      [],
    ]);
    expect(await database.write((tx) => ads.deleteTouchesOf(tx, ["em:x", "device:c"]))).toBe(2);
    expect([await found(database, "device:a"), await found(database, "device:b")]).toEqual([[], ["3"]]);
    expect(await database.reader.all(sql`SELECT i.identity FROM ad_touch_identities i`)).toEqual([{ identity: "device:b" }]);
  });

  test("the touches of one ad are read in the order in which they were recorded, from the first second to the last", async () => {
    const database = await open();
    const times = [60, 49, 50, 51, 61];
    for (const [at, time] of times.entries()) await touch(database, String(at + 8), "9", time, ["device:a"]);
    await touch(database, "20", "10", 55, ["device:a"]);
    const read = async (since: number, until: number) => {
      const all = [];
      for await (const one of ads.touchesOfAd(database.reader, "9", since, until)) all.push(`${one.id} ${one.time} ${one.ad.id}`);
      return all;
    };
    expect(await read(50, 60)).toEqual(["8 60 9", "10 50 9", "11 51 9"]);
    expect(await read(0, 100)).toHaveLength(5);
  });
});

test("D-74, D-290: UUIDs are compared without regard to case, other ids exactly; an id of all zeros counts as absent", () => {
  const cookie = "abcdefghij0123456789AB";
  expect(deviceIdentities({ advertiser_id: UUID, attribution: UUID })).toEqual([`device:${UUID.toLowerCase()}`, `cookie:${UUID.toLowerCase()}`]);
  expect(deviceIdentities({ advertiser_id: "MyPhone", attribution: cookie })).toEqual(["device:MyPhone", `cookie:${cookie}`]);
  for (const none of ["", NO_ID, "0".repeat(22)]) {
    expect(deviceIdentities({ advertiser_id: none, attribution: none })).toEqual([]);
    expect(deviceIdentities({ advertiser_id: "a", attribution: none })).toEqual(["device:a"]);
  }
  expect(deviceIdentities({})).toEqual([]);
  expect(["device:a", "cookie:a", "em:a", "em:device:", "em:cookie:"].map(isDevice)).toEqual([true, true, false, false, false]);
  expect([UUID, UUID.toLowerCase(), NO_ID, `${UUID}0`, UUID.slice(1), UUID.replace("1", "G"), UUID.replaceAll("-", "0")].map(isUuid)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
