import { expect, test } from "bun:test";
import { exportWorld, importWorld } from "#graph/worlds/file/import-export";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const scopes = ["microblog_basic", "microblog_manage_insights"];
/** The start of the current UTC day: the clock of the tests is at 1795000000. */
const TODAY = 1_794_960_000;
const DAY = 86_400;
const days = (ago: number) => TODAY - ago * DAY + 3_600;

const world = {
  ...cafe,
  microblog_users: [{ id: "7001", username: "cafe_talk", user: "3001" }, { id: "7002" }],
  microblog_media: [
    { id: "7101", owner: "7001", text: "hello", timestamp: "2026-11-01T10:00:00+0000" },
    { id: "7102", owner: "7002" },
  ],
  activity: [
    { target: "7101", metric: "views", time: days(0), value: 12 },
    { target: "7101", metric: "views", time: days(400), value: 30 },
    { target: "7101", metric: "shares", time: days(1) },
    { target: "7001", metric: "views", time: days(0), value: 5 },
    { target: "7001", metric: "views", time: days(0), value: 2 },
    { target: "7001", metric: "views", time: days(2), value: 100 },
    { target: "7001", metric: "likes", time: days(0), value: 3 },
    { target: "7001", metric: "likes", time: days(1), value: 4 },
    { target: "7001", metric: "likes", time: days(2), value: 50 },
    { target: "7001", metric: "clicks", time: days(1), value: 3, link_url: "https://example.com/a" },
    { target: "7001", metric: "clicks", time: days(0), value: 1, link_url: "https://example.com/a" },
    { target: "7001", metric: "clicks", time: days(0), value: 9, link_url: "https://example.com/ü" },
    { target: "7001", metric: "clicks", time: days(0), value: 0, link_url: "https://example.com/nobody" },
  ],
  followers: [
    { microblog_user: "7001", country: "DE", city: "Berlin", age: "25-34", gender: "F", count: 60, time: days(5) },
    { microblog_user: "7001", country: "DE", city: "Köln", age: "18-24", gender: "M", count: 30, time: days(5) },
    { microblog_user: "7001", country: "FR", count: 20, time: days(4) },
    { microblog_user: "7002", country: "DE", count: 99 },
  ],
  tokens: [
    ...cafe.tokens,
    { token: "mine", type: "microblog_user", app: "1001", microblog_user: "7001", scopes },
    { token: "theirs", type: "microblog_user", app: "1001", microblog_user: "7002", scopes },
    { token: "basic", type: "microblog_user", app: "1001", microblog_user: "7001", scopes: ["microblog_basic"] },
  ],
};

const insights = (plaza: TestPlaza, path: string, query: Record<string, unknown>) =>
  plaza.get(path, { surface: "microblog", query: { access_token: "mine", ...query } });
const ofMedia = (plaza: TestPlaza, metric: string) => insights(plaza, "/7101/insights", { metric });
const ofUser = (plaza: TestPlaza, query: Record<string, unknown>) => insights(plaza, "/7001/microblog_insights", query);

onEachDatabase("microblog insights", (database) => {
  const open = (options = {}) => openPlaza({ database, world, ...options });

  test("F1: each metric of a media object is counted over its lifetime", async () => {
    const { status, body } = await ofMedia(await open(), "views,shares,quotes");
    expect(status).toBe(200);
    expect(body.data.map(({ name, period, values }: Record<string, unknown>) => ({ name, period, values }))).toEqual([
      { name: "views", period: "lifetime", values: [{ value: 42 }] },
      { name: "shares", period: "lifetime", values: [{ value: 1 }] },
      { name: "quotes", period: "lifetime", values: [{ value: 0 }] },
    ]);
    expect(body.data[0].id).toBe("7101/insights/views/lifetime");
  });

  test("F2-5: the default range is yesterday and today", async () => {
    const { body } = await ofUser(await open(), { metric: "views,likes,clicks,followers_count,replies" });
    const [views, likes, clicks, followers, replies] = body.data;
    expect(views.values).toEqual([
      { value: 0, end_time: "2026-11-18T00:00:00+0000" },
      { value: 7, end_time: "2026-11-19T00:00:00+0000" },
    ]);
    expect(likes.total_value).toEqual({ value: 7 });
    expect(clicks.link_total_values).toEqual([
      { link_url: "https://example.com/a", value: 4 },
      { link_url: "https://example.com/ü", value: 9 },
    ]);
    expect(followers.total_value).toEqual({ value: 110 });
    expect(replies.total_value).toEqual({ value: 0 });
  });

  test("F2-4: since and until limit the range to the second; today follows the clock", async () => {
    const plaza = await open();
    const likes = async (query: Record<string, unknown>) => (await ofUser(plaza, { metric: "likes", ...query })).body.data[0].total_value.value;
    expect(await likes({ since: days(2), until: days(0) + 1 })).toBe(57);
    expect(await likes({ since: days(2), until: days(0) })).toBe(54);
    expect(await likes({ since: days(2) + 1, until: days(0) + 1 })).toBe(7);
    expect(await likes({ since: days(2), until: TODAY })).toBe(54);
    expect(await likes({ since: days(1) })).toBe(7);
    expect(await likes({ until: TODAY })).toBe(54);
    // A range without `since` has two days; the last day is the day of the range's last second.
    const daysUntil = async (until: number) => (await ofUser(plaza, { metric: "views", until })).body.data[0].values.length;
    expect([await daysUntil(TODAY - 1), await daysUntil(TODAY), await daysUntil(TODAY + 1)]).toEqual([2, 2, 2]);
    expect((await ofUser(plaza, { metric: "views", until: TODAY + 1 })).body.data[0].values[0].end_time).toBe("2026-11-18T00:00:00+0000");
    expect((await ofUser(plaza, { metric: "views", until: TODAY })).body.data[0].values[0].end_time).toBe("2026-11-17T00:00:00+0000");
    expect((await ofUser(plaza, { metric: "views", since: days(3), until: TODAY + 1000 * DAY })).body.data[0].values).toHaveLength(4);
    plaza.time.realMs += DAY * 1000;
    expect(await likes({})).toBe(3);
  });

  test("F2-8, D-54: demographics divide the followers by one breakdown or by all four, and take no range", async () => {
    const plaza = await open();
    const metric = "follower_demographics";
    expect((await ofUser(plaza, { metric, breakdown: "country" })).body.data[0].total_value.breakdowns).toEqual([
      {
        dimension_keys: ["country"],
        results: [
          { dimension_values: ["DE"], value: 90 },
          { dimension_values: ["FR"], value: 20 },
        ],
      },
    ]);
    const refused: [Record<string, unknown>, string][] = [
      [{ metric, breakdown: "shoe_size" }, "breakdown"],
      [{ metric, breakdown: "age", since: days(1) }, "since"],
      [{ metric, breakdown: "age", until: days(1) }, "until"],
    ];
    for (const [query, parameter] of refused) {
      const { status, body } = await ofUser(plaza, query);
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 100, error_data: { parameter } } } });
    }
    const ofAll = (await ofUser(plaza, { metric })).body.data[0].total_value.breakdowns;
    expect(ofAll.map(({ dimension_keys }: { dimension_keys: string[] }) => dimension_keys)).toEqual([["country"], ["city"], ["age"], ["gender"]]);
    const few = { access_token: "theirs", metric, breakdown: "country" };
    expect((await insights(plaza, "/7002/microblog_insights", few)).body.data[0].total_value.breakdowns[0].results[0].value).toBe(99);
  });

  test("D-54: clients requires 100 followers, and has no insights from before 1712991600", async () => {
    const plaza = await open({ profile: "clients" });
    const few = { access_token: "theirs", metric: "follower_demographics", breakdown: "country" };
    const refused = { status: 400, body: { error: { error_data: { parameter: "metric" } } } };
    expect(await insights(plaza, "/7002/microblog_insights", few)).toMatchObject(refused);
    for (const [range, parameter] of [
      [{ since: 1_712_991_599, until: TODAY }, "since"],
      [{ until: 1_712_991_599 }, "until"],
    ] as const) {
      expect(await ofUser(plaza, { metric: "likes", ...range })).toMatchObject({ status: 400, body: { error: { error_data: { parameter } } } });
      expect(await ofUser(await open(), { metric: "likes", ...range })).toMatchObject({ status: 200 });
    }
  });

  test("F1-7, F2-7, D-54: unknown metrics and impossible ranges are refused", async () => {
    const plaza = await open();
    for (const metric of ["", "clicks", "views,nothing", undefined])
      expect((await insights(plaza, "/7101/insights", metric === undefined ? {} : { metric })).status).toBe(400);
    for (const metric of ["", "shares"]) expect((await ofUser(plaza, { metric })).status).toBe(400);
    for (const range of [
      { since: -1, until: 6 },
      { until: -1 },
      { since: days(0), until: days(0) },
      { since: days(0), until: days(1) },
      { since: "x" },
      { since: days(-1) },
    ]) {
      expect((await ofUser(plaza, { metric: "views", ...range })).status).toBe(400);
    }
  });

  test("AUTH-15: only the user's own token with both scopes is accepted, in the query", async () => {
    const plaza = await open();
    for (const [path, query] of [
      ["/7101/insights", { metric: "views" }],
      ["/7001/microblog_insights", { metric: "views" }],
    ] as const) {
      expect((await insights(plaza, path, { ...query, access_token: "theirs" })).body.error.error_subcode).toBe(33);
      expect((await insights(plaza, path, { ...query, access_token: "basic" })).body.error.code).toBe(10);
      expect((await insights(plaza, path, { ...query, access_token: "ada" })).status).toBe(400);
      expect((await plaza.get(path, { surface: "microblog", query, bearer: "mine" })).body.error.code).toBe(104);
    }
  });

  test("an exported world has the same counts after an import", async () => {
    const plaza = await open();
    const file = await exportWorld(plaza.world, plaza.registry);
    const again = await openPlaza({ database });
    await importWorld(again.world, again.registry, JSON.stringify(file), { isMerge: false });
    const query = { metric: "views,likes,clicks,followers_count", since: days(300) };
    expect((await ofUser(again, query)).body).toEqual((await ofUser(plaza, query)).body);
    expect((await ofMedia(again, "views,shares")).body).toEqual((await ofMedia(plaza, "views,shares")).body);
  });
});
