import { describe, expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import type { TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";

const KEY = "a-key-that-scripts-know";
const scopes = ["pages_manage_posts", "pages_read_engagement"];
const world = {
  ...cafe,
  live_videos: [
    { id: "5301", page: "2001", status: "LIVE", stream_key: KEY },
    { id: "5302", page: "2001" },
    { id: "5303", page: "2001", status: "VOD", targeting: { excluded_countries: ["US"] } },
  ],
  tokens: [{ token: "author", type: "page", app: "1001", page: "2001", scopes }],
};

const runDue = async ({ work }: TestPlaza["world"]) => work.runDue();
const open = (options = {}) => openControl({ world, ...options }, { onTimeMoved: [runDue] });
const statusOf = async (plaza: TestPlaza, id = "5301") =>
  (await plaza.get(`/v26.0/${id}`, { bearer: "author", query: { fields: "status" } })).body.status;

onEachDatabase("the live state of a video", (database) => {
  test("shows the encoder's events and what comes next, but no key", async () => {
    const { request, plaza } = await open({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const begun = await request("POST", "live-videos/5301/ingest", { event: "started", stream_key: KEY });
    expect(begun).toEqual({
      status: 200,
      body: {
        id: "5301",
        page: "2001",
        state: "live",
        status: "LIVE",
        feed: { is_sending: true, session: 1 },
        test_encoder: false,
        stream_key: "usable",
        next: null,
        sealing: { fails: false, tries: 0 },
        restore_notice: "none",
        history: [{ time: 1_795_000_000, event: "feed_started", state: "live" }],
      },
    });
    const lost = await request("POST", "live-videos/5301/ingest", { event: "lost" });
    expect(lost.body).toMatchObject({ state: "reconnecting", next: { event: "reconnect_window_closed", time: 1_795_000_150 } });
    expect((await request("POST", "live-videos/5301/ingest", { event: "lost" })).status).toBe(409);
    await request("POST", "clock/advance", { seconds: 150 });
    expect((await request("GET", "live-videos/5301/ingest")).body).toMatchObject({ state: "key_dead", status: "LIVE", stream_key: "none" });
    expect(await request("POST", "live-videos/5301/ingest", { event: "started", stream_key: KEY })).toMatchObject({
      status: 409,
      body: { error: { parameter: "stream_key" } },
    });
    await request("POST", "clock/advance", { seconds: 600 });
    expect(await statusOf(plaza)).toBe("VOD");
  });

  test("D-279: an interrupted broadcast is an alert, and one with an expired key is an error", async () => {
    const { request } = await open({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const alert = async () => (await request("GET", "alerts")).body.data.find(({ kind }: { kind: string }) => kind === "live_video");
    await request("POST", "live-videos/5301/ingest", { event: "started", stream_key: KEY });
    expect(await alert()).toBeUndefined();
    await request("POST", "live-videos/5301/ingest", { event: "lost" });
    expect(await alert()).toEqual({
      ...{ kind: "live_video", level: "warning", of: "5301", time: 1_795_000_000 },
      text: "Live video 5301 of page 2001: the encoder has disconnected, and may reconnect with the same key.",
    });
    await request("POST", "clock/advance", { seconds: 150 });
    expect(await alert()).toMatchObject({ level: "error", time: 1_795_000_150 });
    await request("PUT", "live-videos/5301/sealing", { fails: true });
    await request("POST", "live-videos/5301/end");
    await request("POST", "clock/advance", { seconds: 600 });
    expect((await alert()).text).toContain("could not be sealed");
    await request("PUT", "live-videos/5301/sealing", { fails: false });
    expect(await alert()).toBeUndefined();
  });

  test("both windows pass in one move of the clock", async () => {
    const { request, plaza } = await open({ database });
    await request("PUT", "clock", { frozen: true });
    await request("POST", "live-videos/5301/ingest", { event: "started" });
    await request("POST", "live-videos/5301/ingest", { event: "ended" });
    await request("POST", "clock/advance", { seconds: 750 });
    expect(await statusOf(plaza)).toBe("VOD");
  });

  test("D-296: keeps counting its feeds when an operator sets its state", async () => {
    const { request } = await open({ database });
    await request("POST", "live-videos/5301/ingest", { event: "started" });
    expect((await request("PATCH", "nodes/live_videos/5301", { status: "UNPUBLISHED" })).status).toBe(200);
    expect((await request("POST", "live-videos/5301/ingest", { event: "started" })).body.feed).toEqual({ is_sending: true, session: 2 });
  });

  test("ends if the encoder sends no audio", async () => {
    const { request } = await open({ database });
    await request("POST", "live-videos/5301/ingest", { event: "started" });
    expect((await request("POST", "live-videos/5301/ingest", { event: "no_audio" })).body).toMatchObject({
      state: "stopped",
      status: "LIVE_STOPPED",
    });
    expect((await request("POST", "live-videos/5301/ingest", { event: "started" })).status).toBe(409);
  });

  test("still shows as live while sealing fails", async () => {
    const { request, plaza } = await open({ database });
    expect((await request("PUT", "live-videos/5301/sealing", { fails: true })).body.sealing).toEqual({ fails: true, tries: 0 });
    await plaza.post("/v26.0/5301", { bearer: "author", body: { end_live_video: true } });
    await request("POST", "clock/advance", { seconds: 3_600 });
    expect((await request("GET", "live-videos/5301/ingest")).body).toMatchObject({ state: "ending", status: "LIVE" });
    expect((await request("PUT", "live-videos/5301/sealing", { fails: false })).body.status).toBe("LIVE_STOPPED");
    await request("POST", "clock/advance", { seconds: 0 });
    expect(await statusOf(plaza)).toBe("VOD");
  });

  test("is published and ended as by its page, and running broadcasts are listed, each with the event that led to its state", async () => {
    const { request, plaza } = await open({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const running = async () => (await request("GET", "live-videos")).body.data.map(({ id }: { id: string }) => id);
    expect(await running()).toEqual(["5301"]);
    expect((await request("POST", "live-videos/5302/end")).status).toBe(409);
    expect((await request("POST", "live-videos/5302/publish")).body).toMatchObject({
      state: "live",
      history: [{ time: 1_795_000_000, event: "published", state: "live" }],
    });
    expect(await running()).toEqual(["5302", "5301"]);
    expect((await request("POST", "live-videos/5302/publish")).status).toBe(409);
    expect((await request("POST", "live-videos/5302/end")).body.state).toBe("stopped");
    await request("POST", "clock/advance", { seconds: 1 });
    expect(await statusOf(plaza, "5302")).toBe("VOD");
    expect(await running()).toEqual(["5301"]);
    await request("PATCH", "nodes/live_videos/5302", { status: "LIVE" });
    const { history } = (await request("GET", "live-videos/5302/ingest")).body;
    expect(history.map(({ event, state }: Record<string, string>) => `${event} ${state}`)).toEqual([
      ...["published live", "end_signalled ending", "sealed stopped", "processing_began processing", "processed vod", "declared live"],
    ]);
  });

  test("D-279: is an alert while its viewers are affected: its encoder is gone, its key has expired, or its sealing has failed", async () => {
    const { request } = await open({ database });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    const alerts = async () => {
      const { data } = (await request("GET", "alerts")).body as { data: { kind: string; level: string; of: string; text: string }[] };
      return data
        .filter(({ kind }) => kind === "live_video")
        .map(({ level, of, text }) => `${level} ${of}: ${/page 2001: (.*?)[,;]/.exec(text)?.[1]}`);
    };
    const advance = (seconds: number) => request("POST", "clock/advance", { seconds });
    await request("POST", "live-videos/5301/ingest", { event: "started" });
    expect(await alerts()).toEqual([]);
    await request("POST", "live-videos/5301/ingest", { event: "lost" });
    expect(await alerts()).toEqual(["warning 5301: the encoder has disconnected"]);
    await advance(150);
    expect(await alerts()).toEqual(["error 5301: the encoder did not reconnect in time"]);
    await request("PUT", "live-videos/5301/sealing", { fails: true });
    await request("POST", "live-videos/5301/end");
    expect(await alerts()).toEqual([]);
    await advance(1);
    expect(await alerts()).toEqual(["error 5301: the recording could not be sealed"]);
  });

  test("lists the newest hundred of more than a hundred running broadcasts", async () => {
    const live_videos = Array.from({ length: 101 }, (_, at) => ({ id: String(6_000 + at), page: "2001", status: "LIVE" }));
    const { request } = await open({ database, world: { ...cafe, live_videos } });
    const { data } = (await request("GET", "live-videos")).body;
    expect([data.length, data[0].id, data.at(-1).id]).toEqual([100, "6100", "6001"]);
  });

  test("is not changed by unknown words", async () => {
    const { request } = await open({ database });
    for (const [method, path, body] of [
      ["POST", "ingest", { event: "started", session: 1 }],
      ["PUT", "sealing", { fails: true, tries: 3 }],
    ] as const)
      expect((await request(method, `live-videos/5301/${path}`, body)).status).toBe(400);
    expect((await request("GET", "live-videos/5301/ingest")).body).toMatchObject({ feed: { is_sending: false }, sealing: { fails: false } });
    // The stream key of another video cannot start a feed of this video.
    expect((await request("POST", "live-videos/5302/ingest", { event: "started", stream_key: KEY })).status).toBe(409);
  });

  test("keeps only the last entries", async () => {
    const { request } = await open({ database });
    for (let times = 0; times < 30; times++) for (const event of ["started", "lost"]) await request("POST", "live-videos/5301/ingest", { event });
    const { history } = (await request("GET", "live-videos/5301/ingest")).body;
    expect({ count: history.length, last: history.at(-1).event }).toEqual({ count: 50, last: "feed_lost" });
  });

  test("shows takedown, notice, restore, and a notice that lapsed", async () => {
    const { request, plaza } = await open({ database });
    await request("PUT", "clock", { frozen: true });
    for (const path of ["restore-notice", "restore"]) expect((await request("POST", `live-videos/5301/${path}`)).status).toBe(409);
    expect((await request("POST", "live-videos/5302/takedown")).status).toBe(409);
    expect((await request("POST", "live-videos/5301/takedown?reason=OTHER")).status).toBe(400);
    expect((await request("POST", "live-videos/5301/takedown?reason=INTELLECTUAL_PROPERTY")).body).toMatchObject({
      status: "TAKEN_DOWN",
      restore_notice: "open",
      takedown_reason: "INTELLECTUAL_PROPERTY",
    });
    expect(await statusOf(plaza)).toBe("TAKEN_DOWN");
    await request("POST", "clock/advance", { seconds: 6 * 86_400 });
    const noticed = await request("POST", "live-videos/5301/restore-notice");
    expect(noticed).toMatchObject({ status: 200, body: { next: { time: Math.ceil(plaza.world.clock.nowMs() / 1000) + 86_400 } } });
    expect((await request("POST", "live-videos/5301/restore")).body).toMatchObject({ status: "VOD", restore_notice: "none" });
    expect(await statusOf(plaza)).toBe("VOD");
    await request("POST", "live-videos/5301/takedown");
    await request("POST", "clock/advance", { seconds: 7 * 86_400 });
    expect((await request("POST", "live-videos/5301/restore")).status).toBe(409);
    expect((await request("GET", "live-videos/5301/ingest")).body).toMatchObject({ state: "lapsed", restore_notice: "lapsed" });
  });

  test("is 404 everywhere for a deleted video", async () => {
    const { request, plaza } = await open({ database });
    await plaza.delete("/v26.0/5301", { bearer: "author" });
    for (const { method, path, body } of [
      { method: "GET", path: "ingest", body: undefined },
      { method: "POST", path: "ingest", body: { event: "started" } },
      { method: "PUT", path: "sealing", body: { fails: false } },
      { method: "POST", path: "publish", body: undefined },
      { method: "POST", path: "end", body: undefined },
      { method: "POST", path: "takedown", body: undefined },
      { method: "POST", path: "restore-notice", body: undefined },
      { method: "POST", path: "restore", body: undefined },
      { method: "GET", path: "viewer", body: undefined },
    ]) {
      for (const id of ["5301", "2001", "abc", "99999999999999999999"]) {
        const { status } = await request(method, `live-videos/${id}/${path}`, body);
        expect({ path, id, status }).toEqual({ path, id, status: 404 });
      }
    }
  });
});

describe("permission to watch", () => {
  test("LIVE-24, LIVE-27, LIVE-28: countries, the first seconds, and mobile web", async () => {
    const { request, plaza } = await open();
    const viewer = async (id: string, query = "") => {
      const { body } = await request("GET", `live-videos/${id}/viewer${query}`);
      return body.may_watch ? "may" : body.reason;
    };
    expect(await viewer("5302")).toBe("not_published");
    expect(await viewer("5301")).toBe("starting");
    await request("POST", "clock/advance", { seconds: 5 });
    expect(await viewer("5301")).toBe("may");
    expect(await viewer("5301", "?mobile_web=true")).toBe("not_on_mobile_web_until_vod");
    expect(await viewer("5303", "?country=de&mobile_web=true")).toBe("may");
    for (const query of ["?country=US", ""]) expect(await viewer("5303", query)).toBe("not_in_this_country");
    expect((await request("GET", "live-videos/5303/viewer?country=XX")).status).toBe(400);
    await request("POST", "live-videos/5303/takedown");
    expect(await viewer("5303", "?country=DE")).toBe("not_shown");
    expect(await statusOf(plaza, "5303")).toBe("TAKEN_DOWN");
  });
});
