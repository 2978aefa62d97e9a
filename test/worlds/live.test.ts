/** Checks that encoders of several worlds, whose videos have the same ids, can use one port. */
import { expect, test } from "bun:test";
import { readEvents } from "#control-contract/event-stream";
import { onEachDatabase } from "#harness/databases";
import { WorldFeeds } from "#ingest/world-feeds";
import { newData, startOwnServer } from "./own-server.ts";

const liveServer = {
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "LiveServer", roles: [{ user: "3001", tasks: ["CREATE_CONTENT", "MANAGE"] }] }],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_manage_posts", "pages_read_engagement"] }],
};

onEachDatabase("live video in several worlds", (kind) => {
  test("a stream key is valid for its own world's video, and a feed ends with its world's state", async () => {
    const { plaza, control, baseUrl } = await startOwnServer({ data: await newData(kind), rtmp_url: "rtmp://media.example/live", seed: "7" });
    const keys: string[] = [];
    const ids = new Set<string>();
    for (const name of ["a", "b"]) {
      expect((await control("POST", "worlds", { name, file: liveServer })).status).toBe(201);
      const response = await fetch(`${baseUrl}/w/${name}/v26.0/2001/live_videos`, {
        method: "POST",
        headers: { authorization: "Bearer page-token" },
        body: new URLSearchParams({ title: "Opening", status: "LIVE_NOW" }),
      });
      const { id, stream_key, stream_url } = (await response.json()) as { id: string; stream_key: string; stream_url: string };
      ids.add(id);
      expect(stream_key).toStartWith(`${name}.`);
      expect(stream_url).toBe(`rtmp://media.example/live/${stream_key}`);
      keys.push(stream_key);
    }
    // With this seed, each world has the same ids.
    const [video = "", ...others] = ids;
    expect(others).toEqual([]);
    const [keyOfA = "", keyOfB = ""] = keys;
    const feeds = new WorldFeeds(plaza.worlds);
    const size = { width: 1280, height: 720 };
    expect(await feeds.check(`nothing.${keyOfA}`)).toBeUndefined();
    expect(await feeds.check(keyOfA.replace("a.", "b."))).toBeUndefined();
    expect(await feeds.start(keyOfA, size)).toEqual({ feed: { world: "a", video, session: 1 } });
    expect(await feeds.start(keyOfB, size)).toEqual({ feed: { world: "b", video, session: 1 } });
    const isSending = async (world: string) => (await control("GET", `worlds/${world}/live-videos/${video}/ingest`)).body.feed.is_sending;
    expect([await isSending("a"), await isSending("b")]).toEqual([true, true]);
    await feeds.end({ world: "a", video, session: 1 }, "lost");
    expect([await isSending("a"), await isSending("b")]).toEqual([false, true]);
    const health = {
      bits_per_second: 1,
      frames_per_second: 1,
      audio_bits_per_second: 1,
      audio_behind_ms: 0,
      gaps: 0,
      clock_steps: 0,
      key_frame_ms: 1,
      ...size,
    };
    const ofB = { world: "b", video, session: 1 };
    expect(await feeds.report([{ ...ofB, ...health }])).toEqual([]);
    await control("POST", "worlds/b/reset");
    expect(await feeds.report([{ ...ofB, ...health }])).toEqual([ofB]);
  });

  test("D-279: the readers of a world's alerts and requests continue when it is reset", async () => {
    const { plaza, control } = await startOwnServer({ data: await newData(kind) });
    const { control_url, control_key } = plaza.ready;
    await control("POST", "worlds", { name: "c", file: { ...liveServer, live_videos: [{ id: "5301", page: "2001", status: "LIVE" }] } });
    const authorization = `Bearer ${control_key}`;
    const events = readEvents<{ data: { kind: string }[] }>(
      await fetch(`${control_url}/v1/worlds/c/requests/stream?alerts=true`, { headers: { authorization } }),
    );
    /** The promise resolves once there are alerts of exactly these types. */
    const alerts = async (...kinds: readonly string[]): Promise<void> => {
      for (;;) {
        const { value, done } = await events.next();
        if (done === true) throw new Error("the stream has ended");
        if (value.event === "alerts" && value.value.data.map(({ kind: one }) => one).join() === kinds.join()) return;
      }
    };
    await alerts();
    await control("PUT", "worlds/c/clock", { frozen: true });
    await control("POST", "worlds/c/live-videos/5301/ingest", { event: "started" });
    await control("POST", "worlds/c/live-videos/5301/ingest", { event: "lost" });
    await alerts("live_video", "clock_stopped");
    await control("POST", "worlds/c/reset");
    await alerts();
    await control("POST", "worlds/c/live-videos/5301/ingest", { event: "started" });
    await control("POST", "worlds/c/live-videos/5301/ingest", { event: "lost" });
    await alerts("live_video");
    await events.return(undefined);
  });
});
