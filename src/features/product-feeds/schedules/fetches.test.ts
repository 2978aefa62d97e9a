import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { onEachDatabase } from "#harness/databases";
import { csv, openFeeds, row } from "#harness/feeds";
import { RequestFailed } from "#outbound/request";
import { UPLOADS_WAITING_MAX } from "../product-feeds.limits.ts";

const HOUR_S = 3_600;

/** Starts a server that serves the text of each file at the path of the file. */
function serve(files: Record<string, string>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: ({ url }) => new Response(files[new URL(url).pathname]) });
  afterThisTest(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

onEachDatabase("D-146: schedules of feeds", (database) => {
  const open = async () => {
    const feeds = await openFeeds(database);
    const { plaza, request } = feeds;
    /** Moves the clock, and runs the jobs that become due. */
    const pass = async (seconds: number) => {
      await request("POST", "clock/advance", { seconds });
      await plaza.world.work.runDue();
    };
    const update = (body: Record<string, unknown>) => plaza.post("/v25.0/8101", { bearer: "reader", body });
    return { ...feeds, pass, update };
  };

  test("in one move of the clock a silent server is asked once; the next move, and an upload, ask it again", async () => {
    const { update, pass, plaza, request } = await open();
    const asked: string[] = [];
    const { outbound } = plaza.world;
    outbound.request = async ({ url }) => {
      asked.push(url);
      throw new RequestFailed("connect", "nobody is there");
    };
    await update({
      schedule: { interval: "DAILY", url: "https://gone.example/a.csv" },
      update_schedule: { interval: "DAILY", url: "https://also-gone.example/b.csv" },
    });
    await pass(30 * 24 * HOUR_S);
    expect(asked.sort()).toEqual(["https://also-gone.example/b.csv", "https://gone.example/a.csv"]);
    const { data } = (await request("GET", "feeds/8101/uploads")).body as { data: { status: string; problem: string }[] };
    // The list contains only the uploads whose reports are kept.
    expect(data.length).toBeGreaterThan(2);
    for (const { status, problem } of data) expect({ status, problem }).toEqual({ status: "failed", problem: "nobody is there" });
    await pass(24 * HOUR_S);
    expect(asked).toHaveLength(4);
    for (let n = 0; n < 2; n++) {
      await plaza.post("/v25.0/8101/uploads", { bearer: "reader", body: { url: "https://gone.example/a.csv" } });
      await plaza.world.work.runDue();
    }
    expect(asked).toHaveLength(6);
  });

  test("the file is fetched at its time, again and again, until the schedule ends", async () => {
    const files = { "/feed.csv": csv(row("a")) };
    const url = `${serve(files)}/feed.csv`;
    const { update, pass, idsOf, plaza, request } = await open();
    expect((await update({ schedule: { interval: "HOURLY", interval_count: 2, url } })).body).toEqual({ success: true });
    await plaza.world.work.runDue();
    expect(await idsOf()).toEqual([]);
    await pass(HOUR_S);
    expect(await idsOf()).toEqual(["a"]);
    files["/feed.csv"] = csv(row("b"));
    await pass(HOUR_S);
    expect(await idsOf()).toEqual(["a"]);
    await pass(HOUR_S);
    expect(await idsOf()).toEqual(["b"]);
    // If several fetches were due while no process ran, Plaza fetches the file only once.
    plaza.time.realMs += 100 * HOUR_S * 1_000;
    await plaza.world.work.runDue();
    expect((await request("GET", "feeds/8101/uploads")).body.data).toHaveLength(3);
    expect((await update({ schedule: "" })).status).toBe(200);
    expect(await plaza.dump(["jobs.key"])).toEqual([]);
    await pass(100 * HOUR_S);
    expect((await request("GET", "feeds/8101/uploads")).body.data).toHaveLength(3);
  });

  test("renaming a feed does not change the time of its fetch", async () => {
    const url = `${serve({ "/feed.csv": csv(row("a")) })}/feed.csv`;
    const { update, pass, idsOf, plaza } = await open();
    const planned = async () => plaza.dump(["jobs.due_ms"]);
    await update({ schedule: { interval: "HOURLY", interval_count: 5, url }, update_schedule: { interval: "DAILY", interval_count: 3, url } });
    // The first fetch is at the next hour; after that, every fifth hour has a fetch.
    await pass(HOUR_S);
    expect(await idsOf()).toEqual(["a"]);
    const before = await planned();
    expect(before).toHaveLength(2);
    expect((await update({ name: "another name" })).body).toEqual({ success: true });
    expect(await planned()).toEqual(before);
  });

  test("D-148: an update schedule adds to the items, and the upload names the schedule", async () => {
    const address = serve({ "/all": csv(row("a", "old"), row("b")), "/changes": csv(row("a", "new"), row("c")) });
    const { update, pass, itemsOf, plaza } = await open();
    await update({
      schedule: { interval: "MONTHLY", day_of_month: 28, url: `${address}/all` },
      update_schedule: JSON.stringify({ interval: "DAILY", url: `${address}/changes` }),
    });
    // The world's clock shows 18 November 2026, 11:06:40.
    await pass(11 * 24 * HOUR_S);
    await pass(24 * HOUR_S);
    expect((await itemsOf("retailer_id,brand")).map(({ id: _, ...item }) => item)).toEqual([
      { retailer_id: "c" },
      { retailer_id: "b" },
      { retailer_id: "a", brand: "new" },
    ]);
    const { body } = await plaza.get("/v25.0/8101", {
      bearer: "reader",
      query: { fields: "product_count,schedule{interval,day_of_month},update_schedule,latest_upload{update_only,input_method}" },
    });
    expect(body).toEqual({
      ...{ id: "8101", product_count: 3, schedule: { interval: "MONTHLY", day_of_month: 28 } },
      update_schedule: {
        ...{ interval: "DAILY", interval_count: 1, url: `${address}/changes`, hour: 0, minute: 0 },
        ...{ day_of_week: "MONDAY", day_of_month: 1, timezone: "UTC" },
      },
      latest_upload: { id: expect.stringMatching(/^\d+$/), update_only: true, input_method: "Server Fetch" },
    });
  });

  test("a feed with many waiting files gets no more, and a deleted feed is not fetched", async () => {
    const url = `${serve({ "/feed.csv": csv(row("a")) })}/feed.csv`;
    const { update, plaza, request } = await open();
    await update({ schedule: { interval: "HOURLY", url } });
    for (let waiting = 0; waiting < UPLOADS_WAITING_MAX; waiting++)
      expect((await plaza.post("/v25.0/8101/uploads", { bearer: "reader", body: { url } })).status).toBe(200);
    const refused = await plaza.post("/v25.0/8101/uploads", { bearer: "reader", body: { url } });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 613 } } });
    expect(refused.headers["retry-after"]).toBe("60");
    expect((await plaza.delete("/v25.0/8101", { bearer: "reader" })).body).toEqual({ success: true });
    await request("POST", "clock/advance", { seconds: HOUR_S });
    await plaza.world.work.runDue();
    for (const column of ["jobs.key", "feed_uploads.n"]) expect(await plaza.dump([column])).toEqual([]);
    expect(await plaza.dump(["nodes.type"])).not.toContainEqual({ value: "product_feed_upload" });
  });

  test("a wrong schedule is refused with the place of the mistake", async () => {
    const { update, plaza } = await open();
    const url = "https://a.example/feed.csv";
    for (const [schedule, parameter] of [
      [{ url }, "schedule.interval"],
      [{ interval: "DAILY" }, "schedule.url"],
      [{ interval: "SOMETIMES", url }, "schedule.interval"],
      [{ interval: "DAILY", url, hour: 24 }, "schedule.hour"],
      [{ interval: "DAILY", url, hour: -1 }, "schedule.hour"],
      [{ interval: "DAILY", url, minute: 60 }, "schedule.minute"],
      [{ interval: "DAILY", url, minute: -1 }, "schedule.minute"],
      [{ interval: "DAILY", url, interval_count: 0 }, "schedule.interval_count"],
      [{ interval: "DAILY", url, interval_count: 367 }, "schedule.interval_count"],
      [{ interval: "MONTHLY", url, day_of_month: 0 }, "schedule.day_of_month"],
      [{ interval: "MONTHLY", url, day_of_month: 32 }, "schedule.day_of_month"],
      [{ interval: "WEEKLY", url, day_of_week: "SOMEDAY" }, "schedule.day_of_week"],
      [{ interval: "DAILY", url: `${url}?${"x".repeat(2_048 - url.length)}` }, "schedule.url"],
      [{ interval: "DAILY", url, timezone: "Mars/Olympus" }, "schedule.timezone"],
      [{ interval: "DAILY", url: "http://10.0.0.1/feed.csv" }, "schedule.url"],
      [{ interval: "DAILY", url, username: "ada" }, "schedule.username"],
      [{ interval: "DAILY", url, password: "secret" }, "schedule.password"],
      [{ interval: "DAILY", url, huor: 5 }, "schedule.huor"],
      ["daily", "schedule"],
    ] as const) {
      const { status, body } = await update({ schedule });
      expect({ schedule, status, parameter: body.error.error_data.parameter }).toEqual({ schedule, status: 400, parameter });
    }
    expect(await plaza.dump(["jobs.key"])).toEqual([]);
  });

  test("each value of a schedule accepts its bounds", async () => {
    const { update, plaza } = await open();
    const url = "https://a.example/feed.csv";
    for (const schedule of [
      { interval: "DAILY", url, hour: 23, minute: 59, interval_count: 366 },
      { interval: "MONTHLY", url, day_of_month: 31 },
      { interval: "DAILY", url: `${url}?${"x".repeat(2_047 - url.length)}` },
    ]) {
      expect(await update({ schedule })).toMatchObject({ status: 200, body: { success: true } });
      expect((await plaza.get("/v25.0/8101", { bearer: "reader", query: { fields: "schedule" } })).body.schedule).toMatchObject(schedule);
    }
  });

  test("schedules are in world files, and stay planned when something else is changed", async () => {
    const { request, plaza } = await open();
    const schedule = { interval: "DAILY", url: "https://a.example/feed.csv", hour: 3 };
    expect((await request("PATCH", "nodes/product_feeds/8101", { schedule })).status).toBe(200);
    await plaza.world.work.runDue();
    const jobs = await plaza.dump(["jobs.due_ms"]);
    expect(jobs).toHaveLength(1);
    await request("POST", "clock", { advance: 10 });
    const { body } = await request("PATCH", "nodes/product_feeds/8101", { name: "renamed" });
    expect(body.schedule).toEqual({ ...schedule, interval_count: 1, minute: 0, day_of_week: "MONDAY", day_of_month: 1, timezone: "UTC" });
    await plaza.world.work.runDue();
    expect(await plaza.dump(["jobs.due_ms"])).toEqual(jobs);
    const wrong = await request("PATCH", "nodes/product_feeds/8101", { schedule: { ...schedule, timezone: "x" } });
    expect(wrong.body.error.parameter).toBe("schedule.timezone");
  });
});
