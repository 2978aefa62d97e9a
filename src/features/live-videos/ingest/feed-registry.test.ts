import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { readLiveState } from "../lifecycle/live-state.ts";
import { liveVideoAlerts } from "../live-videos.control.ts";
import { FeedRegistry } from "./feed-registry.ts";
import { warningsOf } from "./health.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const bearer = "author";
const liveWorld = { ...cafe, tokens: [...cafe.tokens, { token: bearer, type: "page", app: "1001", page: "2001", scopes }] };
const streaming = { rtmpPort: 1940, rtmpsPort: 1941, rtmpUrl: undefined };
const RATES = { bits_per_second: 900_000, audio_bits_per_second: 64_000, audio_behind_ms: 20, gaps: 0, clock_steps: 0 };
const SIZE = { width: 640, height: 360 };

test("the warnings of a feed say what to change at the encoder", () => {
  const good = { video: "1", session: 1, ...RATES, frames_per_second: 25, key_frame_ms: 2000, ...SIZE };
  expect(warningsOf(good)).toEqual([]);
  expect(warningsOf({ ...good, key_frame_ms: null })).toEqual([]);
  expect(warningsOf({ ...good, audio_bits_per_second: 2000, gaps: 1 })).toEqual([
    "the sound is silent or almost so: check the audio source",
    "pictures were missing once: lower the bit rate, or use a better network",
  ]);
  expect(warningsOf({ ...good, clock_steps: 2 })).toEqual([
    "the encoder's clock jumped 2 times: do not restart a source or set the computer's time while the encoder sends",
  ]);
  expect(warningsOf({ ...good, audio_bits_per_second: 0, audio_behind_ms: 4200, gaps: 3 })).toEqual([
    "no sound for 4 s: check the audio source, because the stream ends after 10 s without sound",
    "pictures were missing 3 times: lower the bit rate, or use a better network",
  ]);
});

onEachDatabase("the feeds of an ingest process", (database) => {
  const open = () => openPlaza({ database, world: liveWorld, streaming });
  const create = async (plaza: TestPlaza, body: Record<string, unknown> = { status: "LIVE_NOW" }) =>
    (await plaza.post("/v26.0/2001/live_videos", { bearer, body })).body as { id: string; stream_key: string; stream_url: string };
  const stateOf = (plaza: TestPlaza, id: string) => readLiveState(plaza.world, nodeId(id));
  const advance = async (plaza: TestPlaza, seconds: number) => {
    plaza.time.realMs += seconds * 1000;
    await plaza.world.work.runDue();
  };
  const healthy = (video: string, session: number) => ({ video, session, ...RATES, frames_per_second: 25, key_frame_ms: 8000, ...SIZE });

  test("LIVE-9: a feed runs from its first key frame until it is lost, and the player has its size", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza, { status: "LIVE_NOW", embeddable: true });
    const registry = new FeedRegistry(plaza.world);
    expect(await registry.check("unknown")).toBeUndefined();
    expect(await registry.check(stream_key)).toEqual({ feed: { video: id, session: 0 }, world: plaza.world.name });
    expect(await stateOf(plaza, id)).toMatchObject({ feed: { is_sending: false } });
    expect(await registry.start(stream_key, { width: 400, height: 300 })).toEqual({ feed: { video: id, session: 1 }, world: plaza.world.name });
    expect((await stateOf(plaza, id))?.health).toBeUndefined();
    expect(await registry.report([healthy(id, 1)])).toEqual([]);
    expect(await stateOf(plaza, id)).toMatchObject({
      feed: { is_sending: true, session: 1 },
      health: { key_frame_ms: 8000, warnings: ["key frames every 8 s let viewers start late: set a key frame interval of 2 s"] },
    });
    // This report is about the encoder of an earlier feed.
    await registry.report([healthy(id, 0)]);
    expect((await stateOf(plaza, id))?.health).toBeUndefined();
    const { body } = await plaza.get(`/v26.0/${id}`, { bearer, query: { fields: "embed_html" } });
    expect(body.embed_html).toContain('width="1280" height="960"');
    await registry.end({ video: id, session: 1 }, "lost");
    expect(await stateOf(plaza, id)).toMatchObject({ state: "reconnecting", feed: { is_sending: false } });
    expect((await stateOf(plaza, id))?.health).toBeUndefined();
  });

  test("D-295: the state, the history and the alerts say why an encoder was refused, until an encoder sends", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza);
    const registry = new FeedRegistry(plaza.world);
    const alerts = async () => (await liveVideoAlerts(plaza.world)).map(({ level, text }) => `${level} ${text}`);
    const moves = async () => (await stateOf(plaza, id))?.history.map(({ event, reason }) => `${event} ${reason ?? ""}`.trim());
    const MP3 = "the audio is MP3: choose AAC in the encoder";
    await registry.refused(id, MP3);
    const time = plaza.world.clock.nowMs() / 1000;
    expect(await stateOf(plaza, id)).toMatchObject({ state: "live", refused: { time, reason: MP3 } });
    expect(await alerts()).toEqual([`error Live video ${id} of page 2001: an encoder was refused: ${MP3}.`]);
    // The attempts of an encoder that is refused many times are shown as one refusal, with the time of the newest attempt.
    await registry.refused(id, MP3);
    expect((await stateOf(plaza, id))?.refused?.time).toBe(time);
    await advance(plaza, 5);
    await registry.refused(id, MP3);
    expect((await stateOf(plaza, id))?.refused?.time).toBe(time + 5);
    await registry.refused(id, "another reason");
    expect(await moves()).toEqual(["published", `feed_refused ${MP3}`, "feed_refused another reason"]);
    await registry.start(stream_key, SIZE);
    expect(await stateOf(plaza, id)).not.toHaveProperty("refused");
    expect(await alerts()).toEqual([]);
    // If one encoder sends and a second encoder is refused, the refusal is a warning for a minute.
    await registry.refused(id, "another encoder");
    expect(await alerts()).toEqual([`warning Live video ${id} of page 2001: an encoder was refused: another encoder.`]);
    await advance(plaza, 60);
    expect(await alerts()).toEqual([]);
    await plaza.post(`/v26.0/${id}`, { bearer, body: { end_live_video: true } });
    await registry.refused(id, "too late");
    await registry.refused("999", "of no video");
    expect((await moves())?.filter((move) => move.endsWith("too late"))).toEqual([]);
  });

  test("D-295: an alert says why the encoder of an unpublished video was refused, even by another server", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza, { title: "Rehearsal" });
    const [registry, other] = [new FeedRegistry(plaza.world), new FeedRegistry(plaza.world)];
    const alerts = async () => (await liveVideoAlerts(plaza.world)).map(({ level, of }) => `${level} ${of}`);
    await registry.refused(id, "the video is AV1: choose H.264 (AVC) in the encoder");
    expect(await alerts()).toEqual([`warning ${id}`]);
    await registry.start(stream_key, SIZE);
    expect(await alerts()).toEqual([]);
    if (database === "sqlite") return;
    expect(await other.check(stream_key)).toBeUndefined();
    expect((await stateOf(plaza, id))?.refused?.reason).toContain("another encoder sends with the same stream key to another server");
  });

  test("a feed whose broadcast has ended, or that another feed has replaced, may not continue", async () => {
    const plaza = await open();
    const [first, second] = [await create(plaza), await create(plaza)];
    const registry = new FeedRegistry(plaza.world);
    await registry.start(first.stream_key, SIZE);
    await registry.start(second.stream_key, SIZE);
    await registry.start(second.stream_key, SIZE);
    await plaza.post(`/v26.0/${first.id}`, { bearer, body: { end_live_video: true } });
    expect(await registry.report([healthy(first.id, 1), healthy(second.id, 1), healthy(second.id, 2)])).toEqual([
      { video: first.id, session: 1 },
      { video: second.id, session: 1 },
    ]);
    // Plaza knows the quality of this feed, but the feed's encoder no longer sends.
    for (const word of ["end_reason", "health"]) expect(await stateOf(plaza, first.id)).not.toHaveProperty(word);
  });

  test("LIVE-9: the feeds of a dead process are lost, and their encoders can reconnect", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza);
    const dead = new FeedRegistry(plaza.world);
    await dead.start(stream_key, SIZE);
    plaza.time.realMs += 20_000;
    const next = new FeedRegistry(plaza.world);
    await next.takeOver();
    expect(await stateOf(plaza, id)).toMatchObject({ state: "reconnecting", feed: { is_sending: false } });
    expect((await next.start(stream_key, SIZE))?.feed).toEqual({ video: id, session: 2 });
    expect(await dead.report([healthy(id, 1)])).toEqual([{ video: id, session: 1 }]);
    await next.lost();
    expect(await stateOf(plaza, id)).toMatchObject({ state: "reconnecting" });
  });

  test("LIVE-9: an encoder that reconnects as soon as the next process listens does not find its own key in use", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza);
    await new FeedRegistry(plaza.world).start(stream_key, SIZE);
    plaza.time.realMs += 20_000;
    expect((await new FeedRegistry(plaza.world).check(stream_key))?.feed).toEqual({ video: id, session: 0 });
  });

  test("D-115: an encoder can replace one whose process was silent for 5 s, and no other", async () => {
    const plaza = await open();
    const [first, second] = [await create(plaza), await create(plaza)];
    const [silent, next] = [new FeedRegistry(plaza.world), new FeedRegistry(plaza.world)];
    // From now on, the new ingest process looks for dead processes only when it sends a report.
    await next.takeOver();
    await silent.start(first.stream_key, SIZE);
    await silent.start(second.stream_key, SIZE);
    plaza.time.realMs += 5_000;
    expect(await next.check(first.stream_key)).toBeUndefined();
    plaza.time.realMs += 1;
    expect((await next.check(first.stream_key))?.feed).toEqual({ video: first.id, session: 0 });
    expect((await next.start(first.stream_key, SIZE))?.feed).toEqual({ video: first.id, session: 2 });
    // The silent ingest process was only slow, and reports once more.
    expect(await silent.report([healthy(first.id, 1), healthy(second.id, 1)])).toEqual([{ video: first.id, session: 1 }]);
    expect(await next.check(second.stream_key)).toBeUndefined();
    expect(await stateOf(plaza, first.id)).toMatchObject({ state: "live", feed: { is_sending: true, session: 2 } });
    expect(await stateOf(plaza, second.id)).toMatchObject({ state: "live", feed: { is_sending: true, session: 1 } });
  });

  test("a process without feeds for a long time is alive as soon as it has one again", async () => {
    const plaza = await open();
    const [first, second] = [await create(plaza), await create(plaza)];
    const [idle, other] = [new FeedRegistry(plaza.world), new FeedRegistry(plaza.world)];
    await idle.start(first.stream_key, SIZE);
    await idle.end({ video: first.id, session: 1 }, "lost");
    plaza.time.realMs += 20_000;
    await idle.start(second.stream_key, SIZE);
    await other.loseSilent();
    expect(await stateOf(plaza, second.id)).toMatchObject({ state: "live", feed: { is_sending: true } });
  });

  test("a feed that the control API simulates outlives the ingest processes", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza);
    const { feedStarted } = await import("../lifecycle/feed.ts");
    await feedStarted(plaza.world, stream_key);
    plaza.time.realMs += 20_000;
    await new FeedRegistry(plaza.world).takeOver();
    expect(await stateOf(plaza, id)).toMatchObject({ state: "live", feed: { is_sending: true } });
  });

  test("D-115: a broadcast without a feed for 10 minutes ends, and its page reads why", async () => {
    const plaza = await open();
    const { id } = await create(plaza);
    await advance(plaza, 599);
    expect(await stateOf(plaza, id)).toMatchObject({ state: "live", next: { event: "feed_missed" } });
    await advance(plaza, 1);
    await advance(plaza, 0);
    expect((await plaza.get(`/v26.0/${id}`, { bearer })).body).toMatchObject({ status: "VOD", end_reason: "NO_FEED" });
  });

  test("D-115: a new key gives another 10 minutes, and a feed ends the wait", async () => {
    const plaza = await open();
    const { id, stream_key } = await create(plaza);
    const registry = new FeedRegistry(plaza.world);
    await advance(plaza, 500);
    await registry.start(stream_key, SIZE);
    await advance(plaza, 5_000);
    await registry.end({ video: id, session: 1 }, "lost");
    await advance(plaza, 200);
    expect(await stateOf(plaza, id)).toMatchObject({ state: "key_dead" });
    await plaza.post(`/v26.0/${id}`, { bearer, body: { regenerate_stream_key: true } });
    await advance(plaza, 599);
    expect(await stateOf(plaza, id)).toMatchObject({ state: "live" });
    await advance(plaza, 1);
    await advance(plaza, 0);
    expect(await stateOf(plaza, id)).toMatchObject({ status: "VOD", end_reason: "NO_FEED" });
  });

  test("LIVE-11, D-115: each end has its reason: no audio, no key, no storage", async () => {
    const plaza = await open();
    const registry = new FeedRegistry(plaza.world);
    for (const [ending, reason] of [
      ["no_audio", "NO_AUDIO"],
      ["no_storage", "NO_STORAGE"],
      ["lost", "KEY_EXPIRED"],
    ] as const) {
      const { id, stream_key } = await create(plaza);
      await registry.start(stream_key, SIZE);
      await registry.end({ video: id, session: 1 }, ending);
      await advance(plaza, 750);
      await advance(plaza, 0);
      expect(await stateOf(plaza, id)).toMatchObject({ status: "VOD", end_reason: reason });
    }
  });

  test("D-115: the stream address is absent if encoders cannot connect", async () => {
    const plaza = await open();
    const made = await create(plaza);
    expect(made).toMatchObject({
      stream_url: `rtmp://plaza.test:1940/live/${made.stream_key}`,
      secure_stream_url: `rtmps://plaza.test:1941/live/${made.stream_key}`,
    });
    const elsewhere = await openPlaza({
      database,
      world: liveWorld,
      streaming: { rtmpPort: undefined, rtmpsPort: undefined, rtmpUrl: "rtmps://media.example/in" },
    });
    const there = await create(elsewhere);
    expect(there).toMatchObject({
      stream_url: `rtmps://media.example/in/${there.stream_key}`,
      secure_stream_url: `rtmps://media.example/in/${there.stream_key}`,
    });
    const nowhere = await openPlaza({ database, world: liveWorld });
    const alone = await create(nowhere);
    expect(Object.keys(alone).sort()).toEqual(["id", "stream_key"]);
    // Encoders cannot connect to this world, so no timer waits for an encoder.
    expect(await stateOf(nowhere, alone.id)).toMatchObject({ state: "live", next: null });
  });
});
