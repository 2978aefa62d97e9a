import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { findVideoById } from "../live-videos.store.ts";
import { feedLost, feedStarted, noAudio } from "./feed.ts";
import { readLiveState, setSealing, transitionLiveVideo } from "./live-state.ts";
import { events, isLive, type LiveEvent, type State, statusOf, transitions } from "./states.ts";
import { worldOfKey } from "./transitions.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const callback = { url: "http://127.0.0.1:9/hook", verify_token: "v", verified: true };
const liveWorld = {
  ...cafe,
  apps: cafe.apps.map((app) => (app.id === "1001" ? { ...app, callback, subscriptions: [{ object: "page", fields: ["live_videos"] }] } : app)),
  live_videos: [{ id: "5301", page: "2001", status: "LIVE" }],
  tokens: [...cafe.tokens, { token: "author", type: "page", app: "1001", page: "2001", scopes }],
};

const bearer = "author";
const WEEK_S = 7 * 86_400;

test("D-261: a key names its world before its first full stop; one without belongs to the first world", () => {
  expect(["other.secret", "other.a.b", "secret"].map(worldOfKey)).toEqual(["other", "other", "default"]);
});

onEachDatabase("the life of a live video", (database) => {
  const streaming = { rtmpPort: 1935, rtmpsPort: undefined, rtmpUrl: undefined };
  const open = () => openPlaza({ database, world: liveWorld });
  const advance = async (plaza: TestPlaza, seconds: number) => {
    plaza.time.realMs += seconds * 1000;
    await plaza.world.work.runDue();
  };
  const update = async (plaza: TestPlaza, id: string, body: Record<string, unknown>) => plaza.post(`/v26.0/${id}`, { bearer, body });
  const statusNow = async (plaza: TestPlaza, id: string) => (await plaza.get(`/v26.0/${id}`, { bearer, query: { fields: "status" } })).body.status;
  /** Returns when the broadcast began, as clients see it, and the time from which on its recording is shown. */
  const beginOf = async (plaza: TestPlaza, id: string) => {
    const shown = (await plaza.get(`/v26.0/${id}`, { bearer, query: { fields: "broadcast_start_time" } })).body.broadcast_start_time;
    return { shown, published_real_ms: (await findVideoById(plaza.world.database.reader, nodeId(id)))?.published_real_ms };
  };
  const stateNow = async (plaza: TestPlaza, id: string) => (await readLiveState(plaza.world, nodeId(id)))?.state;

  /** Creates a live video with an active feed. */
  async function onAir(plaza: TestPlaza) {
    const { body } = await plaza.post("/v26.0/2001/live_videos", { bearer, body: { status: "LIVE_NOW" } });
    const feed = await feedStarted(plaza.world, body.stream_key);
    if (feed === undefined) throw new Error("the key was refused");
    return { id: body.id as string, key: body.stream_key as string, feed };
  }

  test("LIVE-9, LIM-8: an encoder that reconnects within 150 s keeps its key", async () => {
    const plaza = await open();
    const { id, key, feed } = await onAir(plaza);
    const begin = { shown: "2026-11-18T11:06:40+0000", published_real_ms: plaza.time.realMs };
    expect(await beginOf(plaza, id)).toEqual(begin);
    await advance(plaza, 5);
    await feedLost(plaza.world, feed);
    await advance(plaza, 149);
    expect({ status: await statusNow(plaza, id), state: await stateNow(plaza, id) }).toEqual({ status: "LIVE", state: "reconnecting" });
    expect(await feedStarted(plaza.world, key)).toEqual({ video: nodeId(id), session: 2, state: "live" });
    await advance(plaza, 10_000);
    expect({ status: await statusNow(plaza, id), state: await stateNow(plaza, id) }).toEqual({ status: "LIVE", state: "live" });
    // The broadcast that began before the feed was lost still continues.
    expect(await beginOf(plaza, id)).toEqual(begin);
  });

  test("LIVE-10, LIM-8: after 150 s the key expires; a new key continues the broadcast", async () => {
    const plaza = await open();
    const { id, key, feed } = await onAir(plaza);
    const begin = await beginOf(plaza, id);
    await feedLost(plaza.world, feed);
    await advance(plaza, 150);
    expect(await stateNow(plaza, id)).toBe("key_dead");
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    expect(await statusNow(plaza, id)).toBe("LIVE");
    await advance(plaza, 599);
    const { body } = await update(plaza, id, { regenerate_stream_key: true });
    expect(body.success).toBe(true);
    expect(body.stream_key).not.toBe(key);
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    expect((await feedStarted(plaza.world, body.stream_key))?.state).toBe("live");
    await advance(plaza, 10_000);
    expect({ status: await statusNow(plaza, id), ...(await beginOf(plaza, id)) }).toEqual({ status: "LIVE", ...begin });
  });

  test("D-51: without a new key within 10 minutes, the recording becomes the VOD", async () => {
    const plaza = await open();
    const { id, feed } = await onAir(plaza);
    await feedLost(plaza.world, feed);
    // The clock moves past the end of two waits at once; the second wait began at the end of the first wait.
    await advance(plaza, 150 + 599);
    expect(await stateNow(plaza, id)).toBe("key_dead");
    await advance(plaza, 1);
    expect(await statusNow(plaza, id)).toBe("VOD");
    expect((await update(plaza, id, { regenerate_stream_key: true })).body.error.error_data.parameter).toBe("regenerate_stream_key");
  });

  test("LIVE-11, ERR-37: a stream without audio ends the broadcast, or before publication only the feed", async () => {
    const plaza = await open();
    const { id, key, feed } = await onAir(plaza);
    await noAudio(plaza.world, feed);
    expect(await statusNow(plaza, id)).toBe("LIVE_STOPPED");
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    const { body } = await plaza.post("/v26.0/2001/live_videos", { bearer, body: {} });
    const preview = await feedStarted(plaza.world, body.stream_key);
    await noAudio(plaza.world, preview as NonNullable<typeof preview>);
    expect(await readLiveState(plaza.world, nodeId(body.id))).toMatchObject({
      state: "unpublished",
      feed: { is_sending: false },
      stream_key: "usable",
    });
  });

  test("D-110: a feed whose key was replaced cannot reconnect, and its end leaves the new key ten minutes", async () => {
    const plaza = await open();
    const { id, key, feed } = await onAir(plaza);
    const { stream_key } = (await update(plaza, id, { regenerate_stream_key: true })).body;
    expect((await update(plaza, id, { title: "the feed goes on" })).status).toBe(200);
    expect(await stateNow(plaza, id)).toBe("key_replaced");
    await feedLost(plaza.world, feed);
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    await advance(plaza, 599);
    expect(await stateNow(plaza, id)).toBe("live");
    expect(await feedStarted(plaza.world, stream_key)).toMatchObject({ session: 2, state: "live" });
    // After an encoder has used the new key, the encoder may reconnect within the time of LIVE-9.
    expect(await feedLost(plaza.world, { video: nodeId(id), session: 2 })).toMatchObject({ state: "reconnecting" });
  });

  test("D-115: if nobody uses a new key after the old feed's end, the broadcast ends as one without a feed", async () => {
    const plaza = await openPlaza({ database, world: liveWorld, streaming });
    const { id, feed } = await onAir(plaza);
    await update(plaza, id, { regenerate_stream_key: true });
    await update(plaza, id, { regenerate_stream_key: true });
    await feedLost(plaza.world, feed);
    await advance(plaza, 600);
    expect(await readLiveState(plaza.world, nodeId(id))).toMatchObject({ end_reason: "NO_FEED" });
  });

  test("D-110: a report about an old feed is ignored after a new one has started", async () => {
    const plaza = await open();
    const { id, key, feed } = await onAir(plaza);
    const second = await feedStarted(plaza.world, key);
    expect(second?.session).toBe(2);
    for (const tell of [feedLost, noAudio]) expect(await tell(plaza.world, feed)).toBeUndefined();
    expect(await stateNow(plaza, id)).toBe("live");
    expect((await feedLost(plaza.world, { video: nodeId(id), session: 2 }))?.state).toBe("reconnecting");
    // A second report of the same loss does not give the encoder more time.
    expect(await feedLost(plaza.world, { video: nodeId(id), session: 2 })).toBeUndefined();
  });

  test("LIVE-8: while sealing fails the status stays LIVE, and sealing is repeated until it succeeds", async () => {
    const plaza = await open();
    const { id, key } = await onAir(plaza);
    await setSealing(plaza.world, nodeId(id), true);
    expect((await update(plaza, id, { end_live_video: true })).body.success).toBe(true);
    for (let i = 0; i < 5; i++) {
      await advance(plaza, 400);
      expect({ status: await statusNow(plaza, id), state: await stateNow(plaza, id) }).toEqual({ status: "LIVE", state: "ending" });
    }
    expect((await readLiveState(plaza.world, nodeId(id)))?.sealing).toEqual({ fails: true, tries: 5 });
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    expect((await update(plaza, id, { end_live_video: true })).status).toBe(200);
    await setSealing(plaza.world, nodeId(id), false);
    expect(await statusNow(plaza, id)).toBe("LIVE_STOPPED");
    await advance(plaza, 0);
    expect(await statusNow(plaza, id)).toBe("VOD");
  });

  test("D-51: a video that the world file declares LIVE has no feed and no feed timer; it can be ended", async () => {
    const plaza = await open();
    await advance(plaza, 100 * WEEK_S);
    expect(await readLiveState(plaza.world, nodeId("5301"))).toMatchObject({ state: "live", feed: { is_sending: false, session: 0 }, next: null });
    await update(plaza, "5301", { end_live_video: true });
    await advance(plaza, 0);
    expect(await statusNow(plaza, "5301")).toBe("VOD");
  });

  test("LIVE-15: restoring within 7 days of the takedown brings the VOD back", async () => {
    const plaza = await open();
    const { id, key } = await onAir(plaza);
    await plaza.post(`/v26.0/${id}`, { bearer, body: { place: "2001" } });
    expect((await transitionLiveVideo(plaza.world, nodeId(id), "taken_down")).is).toBe("done");
    await advance(plaza, WEEK_S - 1);
    expect((await plaza.get(`/v26.0/${id}`, { bearer })).body).toMatchObject({
      status: "TAKEN_DOWN",
      takedown_reason: "COPYRIGHT",
      restorable_until: "2026-11-25T11:06:40+0000",
    });
    expect((await plaza.get("/v26.0/2001/live_videos", { bearer, query: { fields: "status" } })).body.data).toContainEqual({
      id,
      status: "TAKEN_DOWN",
    });
    for (const path of [`/v26.0/${id}/comments`, `/v26.0/${id}/reactions`]) expect((await plaza.get(path, { bearer })).status).toBe(200);
    for (const refused of [
      await plaza.delete(`/v26.0/${id}`, { bearer }),
      await update(plaza, id, { title: "no" }),
      await plaza.post(`/v26.0/${id}/comments`, { bearer, body: { message: "no" } }),
    ])
      expect(refused).toMatchObject({ status: 400, body: { error: { code: 100, message: "(#100) The live video was taken down" } } });
    expect((await plaza.get("/v26.0/live_map", { bearer })).body.data).toEqual([]);
    expect(await feedStarted(plaza.world, key)).toBeUndefined();
    expect((await transitionLiveVideo(plaza.world, nodeId(id), "restored")).is).toBe("done");
    expect((await plaza.get(`/v26.0/${id}`, { bearer, query: { fields: "status,takedown_reason,restorable_until" } })).body).toEqual({
      id,
      status: "VOD",
    });
    await advance(plaza, WEEK_S);
    expect(await statusNow(plaza, id)).toBe("VOD");
  });

  test("LIVE-16: after the restore notice has lapsed, nothing is restored", async () => {
    const plaza = await open();
    await transitionLiveVideo(plaza.world, nodeId("5301"), "taken_down");
    await advance(plaza, WEEK_S);
    expect(await transitionLiveVideo(plaza.world, nodeId("5301"), "restored")).toMatchObject({ is: "refused", state: { restore_notice: "lapsed" } });
    expect((await plaza.get("/v26.0/5301", { bearer, query: { fields: "status,takedown_reason,restorable_until" } })).body).toEqual({
      id: "5301",
      status: "TAKEN_DOWN",
      takedown_reason: "COPYRIGHT",
    });
  });

  test("D-111: a SCHEDULED_LIVE video goes live at its time; a SCHEDULED_UNPUBLISHED one expires 10 minutes after it", async () => {
    const plaza = await open();
    const plan = async (status: string) =>
      (await plaza.post("/v26.0/2001/live_videos", { bearer, body: { status, planned_start_time: 1_795_000_100 } })).body.id;
    const [auto, manual, moved] = [await plan("SCHEDULED_LIVE"), await plan("SCHEDULED_UNPUBLISHED"), await plan("SCHEDULED_LIVE")];
    // A request that changes only the planned time does not change whether the video goes live by itself.
    await update(plaza, moved, { planned_start_time: 1_795_005_000 });
    await advance(plaza, 99);
    expect(await statusNow(plaza, auto)).toBe("SCHEDULED_LIVE");
    await advance(plaza, 1);
    expect({ auto: await statusNow(plaza, auto), manual: await statusNow(plaza, manual) }).toEqual({ auto: "LIVE", manual: "SCHEDULED_UNPUBLISHED" });
    await advance(plaza, 600);
    expect({ manual: await statusNow(plaza, manual), moved: await statusNow(plaza, moved) }).toEqual({
      manual: "SCHEDULED_EXPIRED",
      moved: "SCHEDULED_LIVE",
    });
    expect((await update(plaza, manual, { status: "LIVE_NOW" })).body.error.error_data.parameter).toBe("status");
    await advance(plaza, 5_000);
    expect(await statusNow(plaza, moved)).toBe("LIVE");
  });

  test("D-62: each change of the status is a webhook of the page, and nothing else is", async () => {
    const plaza = await open();
    await plaza.post("/v26.0/2001/subscribed_apps", { bearer: await pageToken(plaza), body: { subscribed_fields: "live_videos" } });
    const { id, feed } = await onAir(plaza);
    await feedLost(plaza.world, feed);
    await update(plaza, id, { title: "same status" });
    await update(plaza, id, { end_live_video: true });
    await advance(plaza, 0);
    const sent = await plaza.world.database.reader.all<{ payload: string }>(sql`SELECT e.payload FROM webhook_events e ORDER BY e.id`);
    expect(sent.map(({ payload }) => JSON.parse(payload))).toEqual(["LIVE", "LIVE_STOPPED", "PROCESSING", "VOD"].map((status) => ({ id, status })));
  });

  const pageToken = (plaza: TestPlaza) =>
    plaza.mint({ type: "page", app: nodeId("1001"), page: nodeId("2001"), scopes: [...scopes, "pages_manage_metadata", "pages_messaging"] });

  test("any events in any order, with the clock: the state follows the table, and a deleted video stays deleted", async () => {
    const plaza = await open();
    const own: LiveEvent[] = ["published", "feed_started", "feed_lost", "audio_missing", "key_regenerated", "end_signalled"];
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ event: fc.constantFrom(...own) }) },
      { weight: 2, arbitrary: fc.record({ event: fc.constantFrom(...events) }) },
      { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(1, 149, 150, 600, 751, WEEK_S) }) },
      { weight: 1, arbitrary: fc.record({ fails: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const { body } = await plaza.post("/v26.0/2001/live_videos", { bearer, body: {} });
        const id = nodeId(body.id);
        let at: State | "deleted" = "unpublished";
        for (const one of steps) {
          if ("wait" in one) await advance(plaza, one.wait);
          else if ("fails" in one) await setSealing(plaza.world, id, one.fails);
          else {
            const allowed: State | "deleted" | undefined = at === "deleted" ? undefined : transitions[at][one.event];
            const { is } = await transitionLiveVideo(plaza.world, id, one.event);
            expect(is).toBe(at === "deleted" ? "missing" : allowed === undefined ? "refused" : "done");
            if (allowed === "deleted") at = "deleted";
          }
          const seen: State | undefined = (await readLiveState(plaza.world, id))?.state;
          if (at === "deleted") expect(seen).toBeUndefined();
          else {
            expect(canReach(at, seen as State)).toBe(true);
            at = seen as State;
          }
          const shown: string | undefined = await statusNow(plaza, id);
          expect(shown).toBe(at === "deleted" ? undefined : statusOf[at]);
          if (at !== "deleted" && !isLive(at) && statusOf[at] !== undefined && at !== "unpublished" && !at.startsWith("scheduled"))
            expect(await feedStarted(plaza.world, body.stream_key)).toBeUndefined();
        }
      }),
      { numRuns: database === "sqlite" ? 60 : 8 },
    );
  });
});

/** Returns whether one or more transitions lead from one state to the other, because several automatic events may happen at once. */
function canReach(from: State, to: State): boolean {
  const seen = new Set<string>([from]);
  for (const state of seen) for (const next of Object.values(transitions[state as State] ?? {})) seen.add(next);
  return seen.has(to);
}
