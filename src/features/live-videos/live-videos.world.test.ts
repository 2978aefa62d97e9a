import { describe, expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { liveVideos } from "./index.ts";
import { feedLost, feedStarted } from "./lifecycle/feed.ts";
import { readLiveState, transitionLiveVideo } from "./lifecycle/live-state.ts";
import { hashOfKey } from "./lifecycle/transitions.ts";
import { findVideoById } from "./live-videos.store.ts";

const NOW = 1_795_000_000;
const KEY = "a-key-that-scripts-know";

onEachDatabase("live videos of a world file", (database) => {
  const open = (live_videos: object[] = [], more: object = {}) =>
    openPlaza({ database, world: { ...cafe, places: [{ id: "9907" }], live_videos, ...more } });
  const stateOf = async (plaza: Awaited<ReturnType<typeof open>>, id: string) => (await readLiveState(plaza.world, nodeId(id)))?.state;

  test("an entry is created, updated and removed", async () => {
    const entry = {
      id: "5301",
      page: "2001",
      title: "Opening 😀",
      status: "LIVE",
      embeddable: true,
      place: { id: "9907", location: { latitude: 1.5, longitude: -2 } },
      targeting: { geo_locations: { countries: ["DE"] }, excluded_countries: ["AT", "CH"] },
      crossposted_pages: ["2002"],
      broadcast_start_time: NOW - 5,
    };
    await expectLifeOfEntry(await open(), "live_videos", entry, { title: "", place: { id: "9908" }, crossposted_pages: [], status: "VOD" });
    const plaza = await open([{ id: "5301", page: "2001" }]);
    await expectLifeOfEntry(plaza, "live_comments", { id: "5401", live_video: "5301", from: "3001", message: "a" }, { message: "b", from: "2002" });
  });

  test("D-113: a deleted place leaves its videos with the coordinates, or without a place", async () => {
    const location = { latitude: 1, longitude: 2 };
    const on = (id: string, place: unknown) => ({ id, page: "2001", status: "LIVE", place });
    const plaza = await open([on("1", { id: "9907", location }), on("2", "9907"), on("3", "99070"), on("4", { location })], {
      places: [{ id: "9907" }, { id: "99070" }],
    });
    await plaza.world.database.write(async (tx) => liveVideos.onOwnerDeleted?.(tx, nodeId("9907"), plaza.world));
    const places: unknown[] = [];
    for (const id of ["1", "2", "3", "4"]) places.push((await findEntry(plaza, "live_videos", id))?.place);
    expect(places).toEqual([{ location }, undefined, { id: "99070" }, { location }]);
    const onMap = await plaza.world.database.reader.all(sql`SELECT v.id FROM live_videos v WHERE v.is_on_map = 1 ORDER BY v.id`);
    expect(onMap.map(({ id }) => Number(id))).toEqual([1, 3, 4]);
  });

  test("D-51: a world with a video in every state is exported and loaded unchanged", async () => {
    const soon = NOW + 3_600;
    const plaza = await open(
      [
        { id: "1", page: "2001" },
        { id: "2", page: "2001", status: "LIVE", stream_key: KEY },
        { id: "3", page: "2002", status: "LIVE", condition: "reconnecting", deadline: soon, place: "9907", stream_key_sha256: "0".repeat(64) },
        { id: "4", page: "2001", status: "LIVE", condition: "key_dead", deadline: soon },
        { id: "5", page: "2001", status: "LIVE_STOPPED" },
        { id: "6", page: "2001", status: "PROCESSING", description: "d" },
        { id: "7", page: "2001", status: "VOD", condition: "taken_down", deadline: soon, takedown_reason: "INTELLECTUAL_PROPERTY" },
        { id: "8", page: "2001", status: "VOD", condition: "lapsed" },
        { id: "9", page: "2001", status: "SCHEDULED_LIVE", planned_start_time: soon, crossposted_pages: ["2002"] },
        { id: "10", page: "2001", status: "SCHEDULED_UNPUBLISHED", planned_start_time: soon },
        { id: "11", page: "2001", status: "SCHEDULED_EXPIRED" },
        { id: "12", page: "2001", status: "SCHEDULED_CANCELED" },
        { id: "13", page: "2001", status: "LIVE", condition: "ending", deadline: soon, sealing_fails: true },
      ],
      {
        live_comments: [{ id: "5401", live_video: "2", from: "2001", message: "hi" }],
        live_reactions: [{ live_video: "2", from: "3001" }],
      },
    );
    await expectRoundTrip(plaza);
    await plaza.world.work.runDue();
    await expectRoundTrip(plaza);
    plaza.time.realMs += 3_600_000;
    await plaza.world.work.runDue();
    const states = await Promise.all(["3", "4", "5", "7", "9", "10", "13"].map((id) => stateOf(plaza, id)));
    expect(states).toEqual(["key_dead", "vod", "stopped", "lapsed", "live", "scheduled_unpublished", "ending"]);
  });

  test("an encoder can connect with a key of the world file; two videos never share a key", async () => {
    const plaza = await open([{ id: "5301", page: "2001", status: "LIVE", stream_key: KEY }]);
    expect((await feedStarted(plaza.world, KEY))?.video).toBe(nodeId("5301"));
    await expect(insertEntry(plaza, "live_videos", { id: "5302", page: "2001", stream_key: KEY })).rejects.toThrow(
      "is already the stream key of the live video 5301",
    );
    await expect(insertEntry(plaza, "live_videos", { id: "5302", page: "2001", status: "VOD", stream_key: KEY })).rejects.toThrow(
      "is not allowed with this status",
    );
  });

  test("a change that keeps the status keeps feed and timers; a removal cancels the timer", async () => {
    const plaza = await open([{ id: "5301", page: "2001", status: "LIVE", stream_key: KEY }]);
    const feed = await feedStarted(plaza.world, KEY);
    await changeEntry(plaza, "live_videos", "5301", { title: "on air" });
    expect(await readLiveState(plaza.world, nodeId("5301"))).toMatchObject({ state: "live", feed: { is_sending: true, session: 1 } });
    await feedLost(plaza.world, feed as NonNullable<typeof feed>);
    plaza.time.realMs += 100_000;
    await changeEntry(plaza, "live_videos", "5301", { title: "lost" });
    plaza.time.realMs += 50_000;
    await plaza.world.work.runDue();
    expect(await stateOf(plaza, "5301")).toBe("key_dead");
    expect(await removeEntry(plaza, "live_videos", "5301")).toBe(true);
    plaza.time.realMs += 1_000_000;
    await plaza.world.work.runDue();
    expect(await findEntry(plaza, "live_videos", "5301")).toBeUndefined();
  });

  test("removing a page removes its videos, and removing a video removes its comments", async () => {
    const plaza = await open([{ id: "5301", page: "2001", status: "LIVE" }], {
      live_comments: [{ id: "5401", live_video: "5301", from: "3001", message: "a" }],
    });
    const feature = plaza.registry.features.find(({ name }) => name === "live-videos");
    await plaza.world.database.write(async (tx) => feature?.onOwnerDeleted?.(tx, nodeId("2001"), plaza.world));
    expect(await findEntry(plaza, "live_videos", "5301")).toBeUndefined();
    expect(await findEntry(plaza, "live_comments", "5401")).toBeUndefined();
    expect((await transitionLiveVideo(plaza.world, nodeId("5301"), "taken_down")).is).toBe("missing");
  });

  const rowOf = async (plaza: Awaited<ReturnType<typeof open>>, id: string) => {
    const row = await findVideoById(plaza.world.database.reader, nodeId(id));
    if (row === undefined) throw new Error(`there is no video ${id}`);
    return row;
  };
  const dueJobs = async (plaza: Awaited<ReturnType<typeof open>>) =>
    (await plaza.world.database.reader.all<{ job: string }>(sql`SELECT j.kind || ' ' || j.key AS job FROM jobs j ORDER BY j.kind, j.key`)).map(
      ({ job }) => job,
    );

  test("an omitted key means nothing, not allowed, or now", async () => {
    const plaza = await open([
      { id: "1", page: "2001" },
      { id: "2", page: "2001", status: "LIVE" },
      { id: "3", page: "2001", status: "VOD", condition: "taken_down" },
      { id: "4", page: "2001", status: "VOD", embeddable: true, sealing_fails: true, stream_key_sha256: "a".repeat(64) },
    ]);
    expect(await rowOf(plaza, "1")).toEqual({
      ...{ page: "2001", id: "1", title: null, description: null, state: "unpublished", embeddable: 0, place: null, countries: "" },
      ...{ excluded_countries: "", planned_start_time: null, creation_time: NOW, broadcast_start_ms: null, stream_key_hash: null, has_feed: 0 },
      ...{ feed_session: 0, deadline_ms: null, sealing_fails: 0, sealing_tries: 0, is_on_map: 0, takedown_reason: null, end_reason: null },
      ...{ feed_ingest: null, feed_width: null, feed_height: null, published_real_ms: null, history: "[]" },
    });
    expect(await rowOf(plaza, "2")).toMatchObject({ broadcast_start_ms: NOW * 1000, deadline_ms: null });
    expect(await rowOf(plaza, "3")).toMatchObject({ takedown_reason: "COPYRIGHT", broadcast_start_ms: null });
    // Encoders cannot connect to a recording, so the video has no stream key.
    expect(await rowOf(plaza, "4")).toMatchObject({ embeddable: 1, sealing_fails: 1, stream_key_hash: null });
  });

  test("D-110: a timer runs from now, or until the entry's deadline if its state has one that is not a plan's", async () => {
    const until = { deadline: NOW + 77 };
    const soon = { planned_start_time: NOW + 3_600 };
    const plaza = await open([
      { id: "1", page: "2001", status: "LIVE", condition: "key_dead" },
      { id: "2", page: "2001", status: "LIVE", condition: "key_dead", ...until },
      { id: "3", page: "2001", status: "LIVE", ...until },
      { id: "4", page: "2001", status: "LIVE_STOPPED", ...until },
      { id: "5", page: "2001", status: "PROCESSING", ...until },
      { id: "6", page: "2001", status: "SCHEDULED_LIVE", ...soon, ...until },
      { id: "7", page: "2001", status: "SCHEDULED_UNPUBLISHED", ...soon, ...until },
      { id: "8", page: "2001", status: "VOD", condition: "lapsed", ...until },
    ]);
    const deadlines = await Promise.all(["1", "2", "3", "4", "5", "6", "7", "8"].map(async (id) => (await rowOf(plaza, id)).deadline_ms));
    expect(deadlines.map((ms) => ms && ms / 1000 - NOW)).toEqual([600, 77, null, null, null, 3_600, 4_200, null]);
    expect(await dueJobs(plaza)).toEqual(["1", "2", "6", "7"].map((id) => `live_video_deadline ${id}`));
    expect([(await findEntry(plaza, "live_videos", "2"))?.deadline, (await findEntry(plaza, "live_videos", "6"))?.deadline]).toEqual([
      NOW + 77,
      undefined,
    ]);
  });

  test("a change that keeps the status keeps the times to the millisecond, unless it changes one of them", async () => {
    const plaza = await open([
      { id: "1", page: "2001", status: "LIVE", stream_key: KEY },
      { id: "2", page: "2001", status: "SCHEDULED_LIVE", planned_start_time: NOW + 50 },
    ]);
    plaza.time.realMs += 123;
    const feed = (await feedStarted(plaza.world, KEY, { ingest: "i", width: 640, height: 360 })) as {
      video: ReturnType<typeof nodeId>;
      session: number;
    };
    await feedLost(plaza.world, feed);
    const lost = await rowOf(plaza, "1");
    expect([lost.deadline_ms, await findEntry(plaza, "live_videos", "1")]).toMatchObject([NOW * 1000 + 150_123, { deadline: NOW + 151 }]);
    await changeEntry(plaza, "live_videos", "1", { title: "lost" });
    expect(await rowOf(plaza, "1")).toEqual({ ...lost, title: "lost" });
    await changeEntry(plaza, "live_videos", "1", { deadline: NOW + 150 });
    expect(await rowOf(plaza, "1")).toEqual({ ...lost, title: "lost", deadline_ms: (NOW + 150) * 1000 });
    expect(await dueJobs(plaza)).toEqual(["1", "2"].map((id) => `live_video_deadline ${id}`));
    await changeEntry(plaza, "live_videos", "2", { title: "planned" });
    expect((await rowOf(plaza, "2")).deadline_ms).toBe((NOW + 50) * 1000);
    await changeEntry(plaza, "live_videos", "2", { planned_start_time: NOW + 60 });
    expect((await rowOf(plaza, "2")).deadline_ms).toBe((NOW + 60) * 1000);
    await transitionLiveVideo(plaza.world, nodeId("2"), "published");
    const published = await rowOf(plaza, "2");
    expect([published.broadcast_start_ms, await findEntry(plaza, "live_videos", "2")]).toMatchObject([
      ...[NOW * 1000 + 123, { broadcast_start_time: NOW }],
    ]);
    await changeEntry(plaza, "live_videos", "2", { title: "live" });
    expect(await rowOf(plaza, "2")).toEqual({ ...published, title: "live" });
    await changeEntry(plaza, "live_videos", "2", { broadcast_start_time: NOW - 9 });
    expect((await rowOf(plaza, "2")).broadcast_start_ms).toBe((NOW - 9) * 1000);
  });

  test("a change of the status ends the feed and its timer, and is in the history", async () => {
    const plaza = await open([{ id: "1", page: "2001", status: "LIVE", stream_key: KEY }]);
    await feedLost(plaza.world, (await feedStarted(plaza.world, KEY)) as { video: ReturnType<typeof nodeId>; session: number });
    await changeEntry(plaza, "live_videos", "1", { status: "VOD", condition: undefined, deadline: undefined });
    expect(await rowOf(plaza, "1")).toMatchObject({ state: "vod", has_feed: 0, feed_session: 1, deadline_ms: null, stream_key_hash: null });
    expect(await dueJobs(plaza)).toEqual([]);
    const { history = [] } = (await readLiveState(plaza.world, nodeId("1"))) ?? {};
    expect(history.map(({ event, state }) => `${event} ${state}`)).toEqual(["feed_started live", "feed_lost reconnecting", "declared vod"]);
  });

  test("a key has 16 to 200 characters, is given in one form, and belongs to one video; a video stays on its page", async () => {
    const plaza = await open([
      { id: "1", page: "2001", stream_key: KEY },
      { id: "2", page: "2001" },
    ]);
    const insert = (id: string, more: object) => insertEntry(plaza, "live_videos", { id, page: "2001", ...more });
    expect([await insert("3", { stream_key: "k".repeat(16) }), await insert("4", { stream_key: "k".repeat(200) })]).toEqual([true, true]);
    for (const stream_key of ["k".repeat(15), "k".repeat(201)]) expect(() => insert("5", { stream_key })).toThrow("stream_key");
    await expect(insert("5", { stream_key: "l".repeat(16), stream_key_sha256: "0".repeat(64) })).rejects.toThrow(
      "cannot be combined with stream_key",
    );
    await expect(changeEntry(plaza, "live_videos", "2", { stream_key: KEY })).rejects.toThrow("is already the stream key of the live video 1");
    await changeEntry(plaza, "live_videos", "1", { title: "its own" });
    expect((await rowOf(plaza, "1")).stream_key_hash).toBe(hashOfKey(KEY));
    await expect(changeEntry(plaza, "live_videos", "1", { page: "2002" })).rejects.toThrow("cannot change");
  });

  test("LIVE-14: deleting a video deletes its timer and its recording", async () => {
    const plaza = await openPlaza({
      ...{ database, recordings: temporaryFolder() },
      world: { ...cafe, live_videos: [{ id: "1", page: "2001", status: "LIVE", condition: "key_dead", crossposted_pages: ["2001", "2002"] }] },
    });
    expect(await findEntry(plaza, "live_videos", "1")).toMatchObject({ crossposted_pages: ["2002"] });
    expect(await dueJobs(plaza)).toEqual(["live_video_deadline 1"]);
    expect(await removeEntry(plaza, "live_videos", "1")).toBe(true);
    expect(await dueJobs(plaza)).toEqual(["live_recording_removal 1"]);
  });
});

describe("an invalid live video of a world file is refused, and the error names the path:", () => {
  const video = { id: "5301", page: "2001" };
  const cases: [title: string, world: object, message: string][] = [
    ["a page that does not exist", { live_videos: [{ ...video, page: "9" }] }, "live_videos[0].page refers to 9"],
    [
      "a crossposted page that is not a page",
      { live_videos: [{ ...video, crossposted_pages: ["3001"] }] },
      "live_videos[0].crossposted_pages[0] refers to 3001",
    ],
    [
      "a condition of another status",
      { live_videos: [{ ...video, condition: "key_dead" }] },
      "live_videos[0].condition key_dead requires the status LIVE",
    ],
    [
      "an unknown country",
      { live_videos: [{ ...video, targeting: { excluded_countries: ["UK"] } }] },
      "live_videos[0].targeting.excluded_countries[0]",
    ],
    ["a reason without a takedown", { live_videos: [{ ...video, takedown_reason: "COPYRIGHT" }] }, "takedown_reason"],
    ["a place that does not exist", { live_videos: [{ ...video, place: { id: "9999" } }] }, "place.id"],
    ["a place that is an app", { live_videos: [{ ...video, place: "1001" }] }, "place"],
    ["a place beyond the pole", { live_videos: [{ ...video, place: { location: { latitude: 90.5, longitude: 0 } } }] }, "place.location.latitude"],
    ["an unknown status", { live_videos: [{ ...video, status: "LIVE_NOW" }] }, "live_videos[0].status must be one of"],
    ["the status of a condition", { live_videos: [{ ...video, status: "TAKEN_DOWN" }] }, "live_videos[0].status must be one of"],
    [
      "a comment on a node that is not a live video",
      { live_comments: [{ id: "1", live_video: "2001", from: "3001", message: "x" }] },
      "live_comments[0].live_video refers to 2001",
    ],
    [
      "a reaction from a node that cannot react",
      { live_videos: [video], live_reactions: [{ live_video: "5301", from: "1001" }] },
      "live_reactions[0].from refers to 1001",
    ],
  ];
  for (const [title, more, message] of cases) {
    test(title, async () => {
      await expect(openPlaza({ world: { ...cafe, ...more } })).rejects.toThrow(message);
    });
  }
});
