/** Tests a live video after events of an encoder: the video's feed, its stream key, and the reason of its end. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { findEntry, insertEntry } from "#harness/sections";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { sessionFolder } from "#recordings/recording-space";
import { feedLost, feedStarted, noAudio, noStorage } from "./feed.ts";
import { readLiveState, repeatNotice, setSealing, transitionLiveVideo } from "./live-state.ts";

const KEY = "a-key-that-encoders-know";
const PREVIEW_KEY = "a-key-of-what-nobody-sees-yet";
const callback = { url: "http://127.0.0.1:9/hook", verify_token: "v", verified: true };
const scopes = ["pages_manage_posts", "pages_read_engagement", "pages_manage_metadata", "pages_messaging"];
const world = {
  ...cafe,
  apps: cafe.apps.map((app) => (app.id === "1001" ? { ...app, callback, subscriptions: [{ object: "page", fields: ["live_videos"] }] } : app)),
  live_videos: [
    { id: "1", page: "2001", status: "LIVE", stream_key: KEY },
    { id: "2", page: "2001", stream_key: PREVIEW_KEY },
    { id: "3", page: "2001" },
  ],
  tokens: [{ token: "author", type: "page", app: "1001", page: "2001", scopes }],
};

onEachDatabase("the feed of a live video", (database) => {
  const open = () => openPlaza({ database, world });
  const stateOf = async (plaza: TestPlaza, id: string) => {
    const state = await readLiveState(plaza.world, nodeId(id));
    if (state === undefined) throw new Error(`there is no video ${id}`);
    return state;
  };
  const feedOf = async (plaza: TestPlaza, key: string) => {
    const feed = await feedStarted(plaza.world, key);
    if (feed === undefined) throw new Error("the key opens nothing");
    return feed;
  };
  const advance = async (plaza: TestPlaza, ms: number): Promise<void> => {
    plaza.time.realMs += ms;
    await plaza.world.work.runDue();
  };

  test("encoders that begin at the same time are counted one after the other, and one of them sends", async () => {
    const plaza = await open();
    const feeds = await Promise.all(Array.from({ length: 6 }, () => feedOf(plaza, KEY)));
    expect(feeds.map(({ session }) => session).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await stateOf(plaza, "1")).toMatchObject({ feed: { is_sending: true, session: 6 }, history: { length: 6 } });
  });

  test("D-296: a feed after a restore has a number that no session of the recording has", async () => {
    const recordings = temporaryFolder();
    const plaza = await openPlaza({ database, world, recordings });
    expect((await feedOf(plaza, KEY)).session).toBe(1);
    for (const session of [1, 2, 3]) mkdirSync(join(recordings, sessionFolder(plaza.world.name, "1", session)), { recursive: true });
    expect((await feedOf(plaza, KEY)).session).toBe(4);
    expect((await feedOf(plaza, KEY)).session).toBe(5);
    expect((await feedOf(plaza, PREVIEW_KEY)).session).toBe(1);
  });

  test("a key that is replaced, or whose broadcast ends, while its encoder is being admitted is invalid", async () => {
    const plaza = await open();
    const { database: store } = plaza.world;
    const write = store.write.bind(store);
    const meanwhile = async (body: Record<string, unknown>, id: string, key: string) => {
      // At this moment the server has found the video of the key, but has not locked the video yet.
      store.write = async (change) => {
        store.write = write;
        expect((await plaza.post(`/v26.0/${id}`, { bearer: "author", body })).status).toBe(200);
        return write(change);
      };
      return feedStarted(plaza.world, key);
    };
    expect(await meanwhile({ regenerate_stream_key: true }, "2", PREVIEW_KEY)).toBeUndefined();
    expect(await stateOf(plaza, "2")).toMatchObject({ feed: { is_sending: false, session: 0 }, stream_key: "usable" });
    expect(await meanwhile({ regenerate_stream_key: true }, "1", KEY)).toBeUndefined();
    expect(await stateOf(plaza, "1")).toMatchObject({ state: "live", feed: { is_sending: false, session: 0 }, stream_key: "usable" });
    const { stream_key } = (await plaza.post("/v26.0/1", { bearer: "author", body: { regenerate_stream_key: true } })).body;
    expect(await meanwhile({ end_live_video: true }, "1", stream_key)).toBeUndefined();
    expect(await stateOf(plaza, "1")).toMatchObject({ state: "stopped", feed: { is_sending: false, session: 0 }, stream_key: "none" });
  });

  test("D-115: an interrupted preview has no end reason; a broadcast has it in its state and in the webhook", async () => {
    const plaza = await open();
    await plaza.post("/v26.0/2001/subscribed_apps", { bearer: "author", body: { subscribed_fields: "live_videos" } });
    for (const report of [noAudio, noStorage, feedLost]) {
      const feed = await feedOf(plaza, PREVIEW_KEY);
      expect((await report(plaza.world, feed))?.state).toBe("unpublished");
      // A second report of the same event does not change the video.
      expect(await report(plaza.world, feed)).toBeUndefined();
      expect(await stateOf(plaza, "2")).toMatchObject({ state: "unpublished", feed: { is_sending: false }, stream_key: "usable" });
      expect(await stateOf(plaza, "2")).not.toHaveProperty("end_reason");
    }
    await noAudio(plaza.world, await feedOf(plaza, KEY));
    expect((await stateOf(plaza, "1")).end_reason).toBe("NO_AUDIO");
    const sent = (await plaza.dump(["webhook_events.payload"])) as { value: string }[];
    expect(sent.map(({ value }) => JSON.parse(value))).toEqual([{ id: "1", status: "LIVE_STOPPED", end_reason: "NO_AUDIO" }]);
  });

  test("a video has a usable key while the key is valid; an expired key is deleted, and another video can have it", async () => {
    const plaza = await open();
    const keys = async () => Promise.all(["1", "2", "3"].map(async (id) => (await stateOf(plaza, id)).stream_key));
    expect(await keys()).toEqual(["usable", "usable", "none"]);
    await feedLost(plaza.world, await feedOf(plaza, KEY));
    expect((await findEntry(plaza, "live_videos", "1"))?.stream_key_sha256).toBeString();
    await advance(plaza, 150_000);
    expect(await keys()).toEqual(["none", "usable", "none"]);
    expect(await findEntry(plaza, "live_videos", "1")).not.toHaveProperty("stream_key_sha256");
    expect(await insertEntry(plaza, "live_videos", { id: "4", page: "2001", status: "LIVE", stream_key: KEY })).toBe(true);
    expect((await feedOf(plaza, KEY)).video).toBe(nodeId("4"));
    // No encoder can connect to a live video of a world file that has no stream key.
    await transitionLiveVideo(plaza.world, nodeId("3"), "published");
    expect(await stateOf(plaza, "3")).toMatchObject({ state: "live", stream_key: "none" });
  });

  test("the next event has the second in which it is due; without a time there is none", async () => {
    const plaza = await open();
    plaza.time.realMs += 1;
    await feedLost(plaza.world, await feedOf(plaza, KEY));
    expect((await stateOf(plaza, "1")).next).toEqual({ event: "reconnect_window_closed", time: 1_795_000_151 });
    for (const [id, status] of [
      ["5", "SCHEDULED_LIVE"],
      ["6", "SCHEDULED_UNPUBLISHED"],
    ]) {
      await insertEntry(plaza, "live_videos", { id, page: "2001", status });
      await plaza.world.work.runDue();
      expect(await stateOf(plaza, id as string)).toMatchObject({ status, next: null });
    }
  });

  test("D-112: sealing that is set to fail continues to fail if it is set again", async () => {
    const plaza = await open();
    await setSealing(plaza.world, nodeId("1"), true);
    await transitionLiveVideo(plaza.world, nodeId("1"), "end_signalled");
    expect(await setSealing(plaza.world, nodeId("1"), true)).toMatchObject({ is: "done", state: { state: "ending", sealing: { fails: true } } });
    expect((await stateOf(plaza, "1")).state).toBe("ending");
    // A video that was not taken down has no restore notice that Plaza could send again.
    expect(await repeatNotice(plaza.world, nodeId("1"))).toMatchObject({ is: "refused", state: { restore_notice: "none" } });
  });
});
