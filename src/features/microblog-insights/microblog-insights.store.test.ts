/** Tests which rows of posts, followers and sums a statement takes if another user has equal rows, and the spans for which sums are kept. */
import { expect, test } from "bun:test";
import { findNode } from "#graph/worlds/nodes.store";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { insertEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { addToSums, deleteSums, listDays, listRecorded, sumRange, sumUntil } from "./insight-sums.store.ts";
import * as store from "./microblog-insights.store.ts";

const DAY = 86_400;
const NOW = 1_795_000_000;
const [ADA, BOB] = [nodeId("7001"), nodeId("7002")];
const page = { limit: 10 };
const scopes = ["microblog_basic", "microblog_manage_insights"];
const world = {
  ...cafe,
  microblog_users: [{ id: ADA }, { id: BOB }],
  tokens: [...cafe.tokens, { token: "mine", type: "microblog_user", app: "1001", microblog_user: ADA, scopes }],
};

onEachDatabase("insights by row", (kind) => {
  const group = { country: "DE", city: "", age: "25-34", gender: "" };
  /** Stores for each of the two users two posts with likes, and followers. */
  async function open(): Promise<Database> {
    const { database } = (await openPlaza({ database: kind })).world;
    await database.write(async (tx) => {
      for (const owner of [ADA, BOB]) {
        for (const number of ["9", "10"]) {
          const media = { owner, id: `${owner}${number}`, text: `text ${number}`, timestamp: 5 };
          expect([await store.mediaTable.insert(tx, media), await store.mediaTable.insert(tx, media)]).toEqual([true, false]);
          await addToSums(tx, { target: media.id, metric: "likes", start: 70, label: "", value: 3 });
        }
        await addToSums(tx, { target: owner, metric: "clicks", start: 70, label: "x", value: 4 });
        for (const value of [2, 5]) await store.recordFollowers(tx, { microblog_user: owner, time: 70, ...group, value });
      }
    });
    return database;
  }
  const mediaOf = async ({ reader }: Database) =>
    (await store.mediaTable.list(reader, page)).rows.map(({ id, text, timestamp }) => `${id} ${text} ${timestamp}`);
  const recordedOf = async ({ reader }: Database) =>
    (await listRecorded(reader, page)).rows.map(({ target, metric, start, label, value }) => `${target} ${metric} ${start} ${label} ${value}`);

  test("a post is changed and removed alone, with its counts", async () => {
    const database = await open();
    const { reader } = database;
    expect(await mediaOf(database)).toEqual(["70019 text 9 5", "700110 text 10 5", "70029 text 9 5", "700210 text 10 5"]);
    await database.write(async (tx) => {
      await store.mediaTable.replace(tx, { owner: ADA, id: "70019", text: "new", timestamp: 6 });
      expect([await store.deleteMedia(tx, BOB, "700110"), await store.deleteMedia(tx, BOB, "70029")]).toEqual([false, true]);
    });
    expect(await mediaOf(database)).toEqual(["70019 new 6", "700110 text 10 5", "700210 text 10 5"]);
    expect(await recordedOf(database)).toEqual([
      ...["7001 clicks 70 x 4", "7002 clicks 70 x 4", "70019 likes 70  3", "700110 likes 70  3", "700210 likes 70  3"],
    ]);
    expect(await store.mediaTable.find(reader, ADA, "70019")).toEqual({ owner: ADA, id: "70019", text: "new", timestamp: 6 });
    expect([await store.mediaTable.find(reader, BOB, "700110"), await store.mediaTable.find(reader, BOB, "70029")]).toEqual([undefined, undefined]);
    expect([await findNode(reader, nodeId("70029")), (await findNode(reader, nodeId("700210")))?.owner]).toEqual([undefined, BOB]);
  });

  test("a removed user's posts, counts and followers are deleted; others stay", async () => {
    const database = await open();
    const { reader } = database;
    await database.write((tx) => store.deleteAllOfUser(tx, ADA));
    expect(await mediaOf(database)).toEqual(["70029 text 9 5", "700210 text 10 5"]);
    expect(await recordedOf(database)).toEqual(["7002 clicks 70 x 4", "70029 likes 70  3", "700210 likes 70  3"]);
    expect((await store.listAllFollowers(reader, page)).rows).toEqual([{ microblog_user: BOB, time: 70, ...group, value: 7 }]);
    expect([await findNode(reader, nodeId("70019")), (await findNode(reader, nodeId("70029")))?.type]).toEqual([undefined, "microblog_media"]);
    expect([await sumUntil(reader, ADA, "followers_count", 99), await sumUntil(reader, BOB, "followers_count", 99)]).toEqual([
      [],
      [{ label: "", value: 7 }],
    ]);
  });

  test("followers of the same second add up, by each of their groups", async () => {
    const { reader } = await open();
    const levels = [];
    for (const counted of ["followers_count", "country", "city", "age", "gender"] as const) levels.push(await sumUntil(reader, ADA, counted, 71));
    expect(levels).toEqual([[{ label: "", value: 7 }], [{ label: "DE", value: 7 }], [], [{ label: "25-34", value: 7 }], []]);
    expect(await sumUntil(reader, ADA, "followers_count", 70)).toEqual([]);
  });

  test("D-54: every count is stored by second, minute, hour, day, 32 days and 1,024 days", async () => {
    const { database } = (await openPlaza({ database: kind })).world;
    const add = (target: string, start: number, value: number, label = "") =>
      database.write((tx) => addToSums(tx, { target, metric: "views", start, label, value }));
    const start = 20_000 * DAY + 5 * 3_600 + 7 * 60 + 9;
    await add(ADA, start, 2);
    await add(ADA, start, 3);
    await add(BOB, start, 1);
    const rows = await database.reader.all<{ span: number; start: number; value: number }>(
      sql`SELECT s.span, s.start, s.value FROM insight_sums s WHERE s.target = ${ADA} ORDER BY s.span`,
    );
    const starts = [start, start - 9, 20_000 * DAY + 5 * 3_600, 20_000 * DAY, 625 * 32 * DAY, 19 * 1_024 * DAY];
    expect(rows).toEqual([1, 60, 3_600, DAY, 32 * DAY, 1_024 * DAY].map((span, at) => ({ span, start: starts[at] as number, value: 5 })));
    await add(ADA, start + DAY, 7);
    await add(ADA, start + 2 * DAY, 0, "none");
    const days = (since: number, until: number) => listDays(database.reader, ADA, "views", since * DAY, until * DAY);
    expect(await days(20_000, 20_001)).toEqual([{ start: 20_000 * DAY, value: 5 }]);
    expect((await days(20_000, 20_002)).map(({ value }) => value)).toEqual([5, 7]);
    expect(await sumRange(database.reader, ADA, "views", start, start + 9 * DAY)).toEqual([{ label: "", value: 12 }]);
    expect(await sumRange(database.reader, ADA, "likes", 0, start + DAY)).toEqual([]);
    await database.write((tx) => deleteSums(tx, ADA));
    expect([await days(0, 30_000), await sumRange(database.reader, BOB, "views", 0, start + 1)]).toEqual([[], [{ label: "", value: 1 }]]);
  });

  test("D-54: a range may begin with the first possible second, which differs for clients; the largest group comes first", async () => {
    const ask = async (plaza: Awaited<ReturnType<typeof openPlaza>>, query: object) =>
      plaza.get(`/${ADA}/microblog_insights`, { surface: "microblog", query: { access_token: "mine", metric: "views", ...query } });
    const plaza = await openPlaza({ database: kind, world });
    for (const time of [0, DAY]) await insertEntry(plaza, "activity", { target: ADA, metric: "views", time });
    const views = async (query: object) => (await ask(plaza, query)).body.data[0].values.map(({ value }: { value: number }) => value);
    expect([await views({ since: 0, until: 1 }), await views({ until: 100 }), await views({ until: DAY + 1 })]).toEqual([[1], [1], [1, 1]]);
    expect((await ask(plaza, { until: 0 })).status).toBe(200);
    const clients = await openPlaza({ database: kind, profile: "clients", world });
    const first = 1_712_991_600;
    const statuses = [];
    for (const query of [{ since: first, until: first + 1 }, { until: first }, { since: first - 1, until: NOW }, { until: first - 1 }])
      statuses.push((await ask(clients, query)).status);
    expect(statuses).toEqual([200, 200, 400, 400]);
    const groups = async () => {
      const { status, body } = await ask(clients, { metric: "follower_demographics", breakdown: "country" });
      if (status !== 200) return status;
      return body.data[0].total_value.breakdowns[0].results.map((one: { dimension_values: string[]; value: number }) => [
        ...one.dimension_values,
        one.value,
      ]);
    };
    for (const [country, count] of [
      ["AT", 19],
      ["CH", 40],
      ["DE", 40],
    ] as const)
      await insertEntry(clients, "followers", { microblog_user: ADA, country, count, time: NOW });
    expect(await groups()).toBe(400);
    await insertEntry(clients, "followers", { microblog_user: ADA, country: "AT", count: 1, time: NOW });
    expect(await groups()).toEqual([
      ["CH", 40],
      ["DE", 40],
      ["AT", 20],
    ]);
  });

  test("only readable metrics are recorded: shares of a post, clicks of a user, and the common ones of either", async () => {
    const open = (target: string, metric: string) => {
      const link = metric === "clicks" ? { link_url: "x" } : {};
      const media = { microblog_media: [{ id: "7101", owner: ADA }] };
      return openPlaza({ database: kind, world: { ...world, ...media, activity: [{ target, metric, ...link }] } });
    };
    for (const [target, metric] of [
      [ADA, "shares"],
      ["7101", "clicks"],
    ] as const)
      await expect(open(target, metric)).rejects.toThrow(`activity[0].target refers to ${target}`);
    for (const [target, metric] of [
      ["7101", "shares"],
      [ADA, "clicks"],
      ["7101", "views"],
      [ADA, "quotes"],
    ] as const)
      expect(await recordedOf((await open(target, metric)).world.database)).toHaveLength(1);
  });
});
