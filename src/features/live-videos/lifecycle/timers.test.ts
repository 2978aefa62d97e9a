/** Tests the automatic events of a live video and their times, to the second, also if the clock was set back or a job ran late. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import { feedLost, feedStarted } from "./feed.ts";
import { readLiveState, setSealing, transitionLiveVideo } from "./live-state.ts";

const NOW = 1_795_000_000;
const KEY = "a-key-that-encoders-know";
const scopes = ["pages_manage_posts", "pages_read_engagement"];
const world = {
  ...cafe,
  live_videos: [
    { id: "1", page: "2001", status: "LIVE", stream_key: KEY },
    { id: "2", page: "2001" },
  ],
  tokens: [{ token: "author", type: "page", app: "1001", page: "2001", scopes }],
};
const streaming = { rtmpPort: 1935, rtmpsPort: undefined, rtmpUrl: undefined };

onEachDatabase("timers of live videos", (database) => {
  const advance = async (plaza: TestPlaza, seconds: number): Promise<void> => {
    plaza.time.realMs += seconds * 1_000;
    await plaza.world.work.runDue();
  };
  const stateOf = async (plaza: TestPlaza, id = "1") => {
    const state = await readLiveState(plaza.world, nodeId(id));
    if (state === undefined) throw new Error(`there is no video ${id}`);
    return state;
  };
  const nextOf = async (plaza: TestPlaza, id = "1") => {
    const { state, next } = await stateOf(plaza, id);
    return `${state} ${next === null ? "never" : next.time - plaza.time.realMs / 1_000}`;
  };

  test("D-112: failed sealing is repeated after 5, 10, 30 and 60 seconds, and then every five minutes", async () => {
    const plaza = await openPlaza({ database, world });
    const id = nodeId("1");
    await setSealing(plaza.world, id, true);
    await transitionLiveVideo(plaza.world, id, "end_signalled");
    // The first attempt to seal the recording is due at once.
    expect(await nextOf(plaza)).toBe("ending 0");
    for (const [tries, wait] of [5, 10, 30, 60, 300, 300].entries()) {
      await plaza.world.work.runDue();
      expect([await nextOf(plaza), (await stateOf(plaza)).sealing.tries]).toEqual([`ending ${wait}`, tries + 1]);
      await advance(plaza, wait - 1);
      expect((await stateOf(plaza)).sealing.tries).toBe(tries + 1);
      plaza.time.realMs += 1_000;
    }
    // Sealing works again, so Plaza seals the recording at once and makes no further attempts.
    expect(await setSealing(plaza.world, id, false)).toMatchObject({ is: "done", state: { state: "stopped", sealing: { fails: false } } });
    expect(await setSealing(plaza.world, nodeId("2"), false)).toMatchObject({ is: "done", state: { state: "unpublished" } });
  });

  test("D-51: if encoders can connect, a broadcast without one ends after ten minutes; one with an encoder continues", async () => {
    const plaza = await openPlaza({ database, world, streaming });
    await transitionLiveVideo(plaza.world, nodeId("2"), "published");
    expect(await nextOf(plaza, "2")).toBe("live 600");
    await feedStarted(plaza.world, KEY);
    expect(await nextOf(plaza)).toBe("live never");
    await advance(plaza, 599);
    expect(await nextOf(plaza, "2")).toBe("live 1");
    await advance(plaza, 1);
    expect([(await stateOf(plaza)).state, (await stateOf(plaza, "2")).state]).toEqual(["live", "vod"]);
    const without = await openPlaza({ database, world });
    await transitionLiveVideo(without.world, nodeId("2"), "published");
    expect(await nextOf(without, "2")).toBe("live never");
  });

  test("setting the clock back moves no deadline, and a late job counts from the previous deadline", async () => {
    const plaza = await openPlaza({ database, world, streaming });
    await feedLost(plaza.world, (await feedStarted(plaza.world, KEY)) as NonNullable<Awaited<ReturnType<typeof feedStarted>>>);
    expect(await nextOf(plaza)).toBe("reconnecting 150");
    plaza.time.realMs -= 100_000;
    await plaza.world.work.runDue();
    expect(await nextOf(plaza)).toBe("reconnecting 250");
    await advance(plaza, 250 + 77);
    expect(await nextOf(plaza)).toBe(`key_dead ${600 - 77}`);
    expect((await stateOf(plaza)).history.at(-1)).toEqual({ time: NOW + 150, event: "reconnect_window_closed", state: "key_dead" });
  });

  test("LIVE-29: an encoder without a size keeps the old one; a broadcast begins when it is published, once", async () => {
    const plaza = await openPlaza({ database, world });
    const row = async () =>
      (await plaza.dump(["live_videos.feed_width", "live_videos.feed_height", "live_videos.feed_ingest"])) as { value: unknown }[];
    await feedStarted(plaza.world, KEY, { ingest: "i", width: 640, height: 360 });
    const shown = async () => (await row()).map(({ value }) => value).filter((value) => value !== null);
    expect(await shown()).toEqual([640, 360, "i"]);
    await feedStarted(plaza.world, KEY);
    expect(await shown()).toEqual([640, 360]);
    const began = async () =>
      (await plaza.get("/v26.0/2", { bearer: "author", query: { fields: "broadcast_start_time" } })).body.broadcast_start_time;
    plaza.time.realMs += 60_000;
    await transitionLiveVideo(plaza.world, nodeId("2"), "published");
    expect(await began()).toBe("2026-11-18T11:07:40+0000");
    plaza.time.realMs += 60_000;
    await transitionLiveVideo(plaza.world, nodeId("2"), "key_regenerated");
    expect(await began()).toBe("2026-11-18T11:07:40+0000");
  });

  test("a request that creates or changes a video gets its response when encoders can connect", async () => {
    const listening = Promise.withResolvers<void>();
    const plaza = await openPlaza({ database, world, streaming: { ...streaming, listening: listening.promise } });
    const responses: string[] = [];
    const created = plaza.post("/v26.0/2001/live_videos", { bearer: "author", body: {} }).then(() => responses.push("created"));
    const updated = plaza.post("/v26.0/2", { bearer: "author", body: { title: "x" } }).then(() => responses.push("updated"));
    // A read gets its response without waiting for the ingest process. The two writes still wait after several reads.
    for (let times = 0; times < 5; times++) expect((await plaza.get("/v26.0/2", { bearer: "author" })).status).toBe(200);
    expect(responses).toEqual([]);
    listening.resolve();
    await Promise.all([created, updated]);
    expect(responses.sort()).toEqual(["created", "updated"]);
  });
});
