/**
 * D-54: tests that counts in a range are exact to the second and read few sums. The oracle keeps every activity, and adds up the activities in the
 * range.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { insertEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { END_OF_TIME, LONGEST_SPAN, stretchesOf } from "./insight-sums.store.ts";

const DAY = 86_400;
const NOW = 1_795_000_000;
const USER = "7001";
const MEDIA = "7101";

const world = {
  ...cafe,
  microblog_users: [{ id: USER }],
  microblog_media: [{ id: MEDIA, owner: USER }],
  tokens: [
    ...cafe.tokens,
    { token: "mine", type: "microblog_user", app: "1001", microblog_user: USER, scopes: ["microblog_basic", "microblog_manage_insights"] },
  ],
};

test("D-54: the stretches of a range cover each second once, and need at most 430 sums, or 220 up to the end of time", () => {
  const moment = fc.integer({ min: 0, max: 2 ** 32 });
  fc.assert(
    fc.property(moment, moment, fc.boolean(), (one, other, isOpen) => {
      const [since, until] = [Math.min(one, other), isOpen ? END_OF_TIME : Math.max(one, other)];
      const stretches = stretchesOf(since, until).filter(({ from, to }) => from < to);
      for (const { span, from, to } of stretches) expect([from % span, to === END_OF_TIME ? 0 : to % span]).toEqual([0, 0]);
      const inOrder = stretches.sort((a, b) => a.from - b.from);
      let at = since;
      for (const { from, to } of inOrder) {
        expect(from).toBe(at);
        at = to;
      }
      expect(at).toBe(until);
      const bounded = stretches.filter(({ span, to }) => to !== END_OF_TIME || span !== LONGEST_SPAN);
      const sums = bounded.reduce((count, { span, from, to }) => count + (to - from) / span, 0);
      expect(sums).toBeLessThanOrEqual(isOpen ? 220 : 430);
    }),
    { numRuns: 2_000 },
  );
});

/** Draws times that are around now, at the edges of minutes, hours and days, long ago, or in the future. */
const moment = fc.oneof(
  fc.integer({ min: -3 * DAY, max: DAY }).map((seconds) => NOW + seconds),
  fc.integer({ min: -200, max: 3 }).map((seconds) => NOW + seconds),
  fc
    .tuple(fc.constantFrom(60, 3_600, DAY, 32 * DAY, 1_024 * DAY), fc.integer({ min: 0, max: 40 }), fc.integer({ min: -1, max: 1 }))
    .map(([span, back, shift]) => Math.max(0, (Math.floor(NOW / span) - back) * span + shift)),
  fc.integer({ min: 0, max: 2 * NOW }),
);
const activity = fc.record({
  metric: fc.constantFrom("views", "likes", "clicks", "followers"),
  time: moment,
  value: fc.integer({ min: 1, max: 1_000 }),
  label: fc.constantFrom("https://example.com/a", "https://example.com/ä", "z"),
});
type Activity = typeof activity extends fc.Arbitrary<infer One> ? One : never;

/** The oracle, with which the test compares the counts. The oracle is slow, because it looks at every activity. */
function oracleOf(history: readonly Activity[]) {
  const counted = (metric: Activity["metric"], since: number, until: number) =>
    history.filter((one) => one.metric === metric && one.time >= since && one.time < Math.min(until, NOW + 1));
  const sum = (found: readonly Activity[]) => found.reduce((total, { value }) => total + value, 0);
  const byLabel = (found: readonly Activity[]) =>
    [...new Set(found.map(({ label }) => label))]
      .sort()
      .map((link_url) => ({ link_url, value: sum(found.filter(({ label }) => label === link_url)) }));
  return (since: number, until: number) => {
    const days = [];
    for (let day = Math.floor(since / DAY) * DAY; day < Math.min(until, NOW + 1); day += DAY) {
      days.push(sum(counted("views", Math.max(since, day), Math.min(until, day + DAY))));
    }
    return {
      views: days,
      likes: sum(counted("likes", since, until)),
      clicks: byLabel(counted("clicks", since, until)),
      followers: sum(counted("followers", 0, until)),
    };
  };
}

onEachDatabase("sums of insights", (database) => {
  test("D-54: counts, series, clicks and levels of any range equal the oracle's, and adjacent ranges add up", async () => {
    const plaza = await openPlaza({ database, world });
    const history: Activity[] = [];
    const oracle = oracleOf(history);
    const read = async (since: number, until: number) => {
      const metric = "views,likes,clicks,followers_count";
      const { status, body } = await plaza.get(`/${USER}/microblog_insights`, {
        surface: "microblog",
        query: { access_token: "mine", metric, since, until },
      });
      expect(status).toBe(200);
      const [views, likes, clicks, followers] = body.data;
      return {
        views: views.values.map(({ value }: { value: number }) => value) as number[],
        likes: likes.total_value.value as number,
        clicks: clicks.link_total_values as { link_url: string; value: number }[],
        followers: followers.total_value.value as number,
      };
    };
    const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
    await fc.assert(
      fc.asyncProperty(fc.array(activity, { minLength: 1, maxLength: 12 }), moment, moment, moment, async (more, ...moments) => {
        for (const one of more) {
          const { metric, time, value, label } = one;
          if (metric === "followers") await insertEntry(plaza, "followers", { microblog_user: USER, country: label, count: value, time });
          else await insertEntry(plaza, "activity", { target: USER, metric, time, value, ...(metric === "clicks" ? { link_url: label } : {}) });
          history.push(one);
        }
        const [a, b, c] = moments.sort((x, y) => x - y) as [number, number, number];
        // Each drawn range has at least one second, and few enough days that its daily series is short.
        const [since, middle, until] = [Math.max(a, b - 400 * DAY), b + 1, Math.min(Math.max(c, b + 1) + 1, b + 400 * DAY)];
        const [first, second, both] = [await read(since, middle), await read(middle, until), await read(since, until)];
        expect(first).toEqual(oracle(since, middle));
        expect(both).toEqual(oracle(since, until));
        expect(first.likes + second.likes).toBe(both.likes);
        expect(total(first.views) + total(second.views)).toBe(total(both.views));
      }),
      { numRuns: 25 },
    );
    const groups = await plaza.get(`/${USER}/microblog_insights`, {
      surface: "microblog",
      query: { access_token: "mine", metric: "follower_demographics", breakdown: "country" },
    });
    const results = groups.body.data[0].total_value.breakdowns[0].results as { dimension_values: string[]; value: number }[];
    expect(total(results.map(({ value }) => value))).toBe(oracle(0, NOW + 1).followers);
  });

  test("D-54: future activity counts only when its time has come", async () => {
    const plaza = await openPlaza({ database, world });
    for (const ahead of [0, 1, 60, 40 * DAY]) {
      await insertEntry(plaza, "activity", { target: MEDIA, metric: "likes", time: NOW + ahead });
      await insertEntry(plaza, "followers", { microblog_user: USER, country: "DE", time: NOW + ahead });
    }
    const counts = async () => {
      const read = (path: string, metric: string) => plaza.get(path, { surface: "microblog", query: { access_token: "mine", metric } });
      const [likes, level, groups] = [
        await read(`/${MEDIA}/insights`, "likes"),
        await read(`/${USER}/microblog_insights`, "followers_count"),
        await read(`/${USER}/microblog_insights`, "follower_demographics"),
      ].map(({ body }) => body.data[0]);
      return [likes.values[0].value, level.total_value.value, groups.total_value.breakdowns[0].results[0].value];
    };
    const seen = [];
    for (const seconds of [0, 1, 59, 40 * DAY]) {
      plaza.time.realMs += seconds * 1_000;
      seen.push(await counts());
    }
    expect(seen).toEqual([1, 2, 3, 4].map((count) => [count, count, count]));
  });
});
