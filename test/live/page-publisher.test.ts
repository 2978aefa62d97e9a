import { expect, test } from "bun:test";
import { join } from "node:path";
import { startEncoder } from "#harness/live/encoder";
import { openPublisher } from "#harness/live/publisher";
import { openStudio } from "#harness/live/studio";
import { embed, playlistOf, playsUntil, screenshot } from "#harness/live/viewer";
import { temporaryFolder } from "#harness/server";

/** A browser that encodes and another that plays take turns on a small machine. */
const BROWSER_MS_MAX = 120_000;
const dataFolder = (): string => join(temporaryFolder(), "data");
const isSending = ({ feed }: { feed: { is_sending: boolean } }): boolean => feed.is_sending;

test(
  "LIVE-3, LIVE-7, LIVE-9: what a page encodes with WebCodecs plays live, goes on after a break with another size, and plays as VOD",
  async () => {
    const studio = await openStudio(dataFolder());
    const { id, stream_url } = await studio.createShown();
    const { page, player } = await embed(studio, id);
    const publisher = await openPublisher(studio);
    await publisher.start({ width: 320, height: 180 }, { stream_url });
    expect(await studio.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 1 } });
    const live = await playsUntil(page, player, ({ currentTime }) => currentTime > 1);
    expect(live).toMatchObject({ width: 320, height: 180, error: null });
    expect((await playsUntil(page, player, ({ currentTime }) => currentTime > live.currentTime + 1)).error).toBeNull();
    await screenshot(page, "page-live");
    // A machine that has no time for the page leaves pictures out, and then key pictures come later.
    const { health } = await studio.stateWhen(id, (state) => (state.health?.key_frame_ms ?? 4000) < 4000);
    expect(health).toMatchObject({ width: 320, height: 180 });
    expect(health?.key_frame_ms).toBeLessThan(4000);
    await publisher.stop();
    expect(await studio.stateWhen(id, ({ state }) => state === "reconnecting")).toMatchObject({ status: "LIVE" });
    await publisher.start({ width: 256, height: 144 }, { stream_url });
    const back = await playsUntil(page, player, ({ width }) => width === 256);
    await playsUntil(page, player, ({ currentTime }) => currentTime > back.currentTime + 1);
    expect(await (await fetch(await playlistOf(studio, { id }))).text()).toMatch(
      /#EXT-X-MAP:URI="1\/head\.mp4"[\s\S]*#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="2\/head\.mp4"/,
    );
    await studio.graph(id, { end_live_video: true });
    expect((await publisher.statesUntil((last) => last.startsWith("ended: "))).slice(-3)).toEqual([
      "connecting",
      "publishing",
      "ended: The broadcast has ended",
    ]);
    const end = await playsUntil(page, player, ({ ended }) => ended);
    expect(end.error).toBeNull();
    // Loaded again, it plays all of the recording, and any place of it. The player before has gone, and a loaded machine may look only after the end.
    await page.evaluate(player, `document.querySelector("video")?.remove(), location.reload()`);
    const vod = await playsUntil(page, player, ({ currentTime, duration }) => currentTime > 0.5 && duration !== null);
    expect(vod.error).toBeNull();
    // Paused, because it would go on while a loaded machine does not look.
    await page.evaluate(player, `Object.assign(document.querySelector("video"), { currentTime: 0.5 }).pause()`);
    expect((await playsUntil(page, player, ({ width }) => width === 320)).currentTime).toBeGreaterThanOrEqual(0.5);
    await page.evaluate(player, `void (document.querySelector("video").currentTime = ${(vod.duration as number) - 1})`);
    await playsUntil(page, player, ({ width }) => width === 256);
    await page.evaluate(player, `document.querySelector("video").play()`);
    expect((await playsUntil(page, player, ({ ended }) => ended)).width).toBe(256);
    await screenshot(page, "page-vod");
  },
  BROWSER_MS_MAX,
);

test(
  "D-117: while a page sends no sound its viewers see it go on, also to the end",
  async () => {
    const studio = await openStudio(dataFolder());
    const { id, stream_url } = await studio.createShown();
    const { page, player } = await embed(studio, id);
    const publisher = await openPublisher(studio);
    await publisher.start({ width: 320, height: 180 }, { stream_url });
    const live = await playsUntil(page, player, ({ currentTime }) => currentTime > 1);
    await publisher.setSounding(false);
    // Some segments of them have no sound at all.
    const silent = await playsUntil(page, player, ({ currentTime }) => currentTime > live.currentTime + 7);
    await publisher.setSounding(true);
    const again = await playsUntil(page, player, ({ currentTime }) => currentTime > silent.currentTime + 4);
    await publisher.setSounding(false);
    await playsUntil(page, player, ({ currentTime }) => currentTime > again.currentTime + 1);
    await studio.graph(id, { end_live_video: true });
    expect((await playsUntil(page, player, ({ ended }) => ended)).error).toBeNull();
  },
  BROWSER_MS_MAX,
);

test(
  "LIVE-9: pages with a wrong key, or with that of another, read so; a server that dies is waited for",
  async () => {
    const data = dataFolder();
    const studio = await openStudio(data);
    const { id, stream_url, stream_key } = await studio.create();
    const size = { width: 160, height: 90 };
    const url = (studio.server.rtmp_url as string).replace("rtmp:", "ws:");
    const wrong = await openPublisher(studio);
    await wrong.start(size, { url, stream_key: "wrong" });
    expect(await wrong.statesUntil((last) => last.startsWith("ended"))).toEqual(["connecting", "ended: The stream key opens nothing"]);
    const first = await openPublisher(studio);
    await first.start(size, { url, stream_key });
    await studio.stateWhen(id, isSending);
    await wrong.start(size, { stream_url });
    expect((await wrong.statesUntil((last) => last.includes("Another"))).at(-1)).toBe("ended: Another encoder uses this key");
    await studio.server.kill();
    await first.statesUntil((last) => last === "reconnecting");
    const port = new URL(url).port;
    const again = await openStudio(data, ["--rtmp-port", port]);
    const states = await first.statesUntil((last) => last === "publishing" || last.startsWith("ended"));
    expect([...new Set(states)]).toEqual(["connecting", "publishing", "reconnecting"]);
    expect(await again.stateWhen(id, isSending)).toMatchObject({ state: "live", feed: { session: 2 } });
  },
  BROWSER_MS_MAX,
);

test(
  "D-117: an encoder goes on with what a page began, in one recording; what an encoder began, no page can go on with",
  async () => {
    const studio = await openStudio(dataFolder());
    const { id, stream_url } = await studio.createShown();
    const { page, player } = await embed(studio, id);
    const publisher = await openPublisher(studio);
    const size = { width: 320, height: 180 };
    await publisher.start(size, { stream_url });
    await playsUntil(page, player, ({ currentTime }) => currentTime > 1);
    await publisher.stop();
    await studio.stateWhen(id, ({ state }) => state === "reconnecting");
    const encoder = startEncoder(stream_url, { bFrames: 2, size: "256x144" });
    const back = await playsUntil(page, player, ({ width }) => width === 256);
    expect((await playsUntil(page, player, ({ currentTime }) => currentTime > back.currentTime + 1)).error).toBeNull();
    await encoder.stop();
    // Its first picture is decoded 80 ms before it is shown: a hole that the player does not wait behind.
    await studio.graph(id, { end_live_video: true });
    expect((await playsUntil(page, player, ({ ended }) => ended)).error).toBeNull();
    const other = await studio.create();
    expect(await startEncoder(other.stream_url, { seconds: 3, isFast: true }).ended).toBe(0);
    await studio.stateWhen(other.id, ({ state }) => state === "reconnecting");
    await publisher.start(size, { stream_url: other.stream_url });
    expect((await publisher.statesUntil((last) => last.startsWith("ended: "))).at(-1)).toContain("An encoder with RTMP began this video");
  },
  BROWSER_MS_MAX,
);
