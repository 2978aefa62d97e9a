import { describe, expect, test } from "bun:test";
import { onEachDatabase, openPlaza } from "#harness/plaza";
import { changeEntry, expectLifeOfEntry, expectRoundTrip, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { liveVideos } from "./index.ts";
import { readLiveState, transitionLiveVideo } from "./lifecycle/control-transitions.ts";
import { feedLost, feedStarted } from "./lifecycle/feed.ts";

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

  test("D-113: a place that is deleted leaves the videos there with their coordinates, or without a place", async () => {
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
        { id: "7", page: "2001", status: "VOD", condition: "taken_down", deadline: soon },
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
      "is the key of the live video 5301",
    );
    await expect(insertEntry(plaza, "live_videos", { id: "5302", page: "2001", status: "VOD", stream_key: KEY })).rejects.toThrow(
      "is not allowed in that status",
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
    ["a place that does not exist", { live_videos: [{ ...video, place: { id: "9999" } }] }, "place.id"],
    ["a place that is an app", { live_videos: [{ ...video, place: "1001" }] }, "place"],
    ["a place beyond the pole", { live_videos: [{ ...video, place: { location: { latitude: 90.5, longitude: 0 } } }] }, "place.location.latitude"],
    ["an unknown status", { live_videos: [{ ...video, status: "LIVE_NOW" }] }, "live_videos[0].status must be one of"],
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
