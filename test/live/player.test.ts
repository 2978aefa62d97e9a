import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPage } from "#harness/live/browser";
import { startEncoder } from "#harness/live/encoder";
import { LiveServer, liveWorld, openLiveServer } from "#harness/live/live-server";
import { embed, playlistOf, playsUntil, screenshot } from "#harness/live/viewer";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startServer, temporaryFolder, worldFile } from "#harness/server";

test("LIVE-3, LIVE-7: a framed player plays ffmpeg's stream with B-frames live, continues after a break with another size, and plays the VOD", async () => {
  const liveServer = await openLiveServer(join(temporaryFolder(), "data"));
  const { id, stream_url } = await liveServer.create();
  const { page, player } = await embed(liveServer, id);
  const first = startEncoder(stream_url, { bFrames: 2, keyFrameSeconds: 1 });
  const live = await playsUntil(page, player, ({ currentTime }) => currentTime > 1);
  expect(live).toMatchObject({ width: 320, height: 180, error: null });
  expect((await playsUntil(page, player, ({ currentTime }) => currentTime > live.currentTime + 2)).error).toBeNull();
  await screenshot(page, "live");
  await first.kill();
  await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  const second = startEncoder(stream_url, { bFrames: 2, size: "256x144" });
  const back = await playsUntil(page, player, ({ width }) => width === 256);
  await playsUntil(page, player, ({ currentTime }) => currentTime > back.currentTime + 1);
  await liveServer.graph(id, { end_live_video: true });
  await second.ended;
  // A viewer who is watching the live video sees its end.
  const end = await playsUntil(page, player, ({ ended }) => ended);
  expect(end.error).toBeNull();
  // A viewer who opens the video after its end sees the whole video, and can seek to any point.
  const later = await openPage(`${player}${id}`);
  const vod = await playsUntil(later, player, ({ currentTime, duration }) => currentTime > 0.5 && duration !== null);
  expect(vod.width).toBe(320);
  expect(Math.abs((vod.duration as number) - (end.duration as number))).toBeLessThan(0.5);
  await later.evaluate(player, `document.querySelector("video").currentTime = ${(vod.duration as number) - 1}`);
  expect((await playsUntil(later, player, ({ ended }) => ended)).width).toBe(256);
  await screenshot(later, "vod");
});

test("LIVE-5, LIVE-15, LIVE-14: page, playlist and segments exist only while a viewer may watch", async () => {
  const data = join(temporaryFolder(), "data");
  const liveServer = await openLiveServer(data);
  const { id, stream_url } = await liveServer.create({ status: "LIVE_NOW" });
  const address = `${liveServer.server.base_url}/player/${id}`;
  const status = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;
  // A video that is not embeddable looks like an address that does not exist.
  const missing = await fetch(`${liveServer.server.base_url}/player/1`);
  const hidden = await fetch(address);
  const withoutTrace = async (response: Response) =>
    (await response.text()).replace(/"pftrace_id":"[^"]*"|"[a-z_]*trace_id":"[^"]*"/g, "").replaceAll(id, "1");
  expect([hidden.status, await withoutTrace(hidden)]).toEqual([missing.status, await withoutTrace(missing)]);
  await liveServer.graph(id, { embeddable: true });
  expect(await status(address)).toBe(200);
  const playlist = await playlistOf(liveServer, { id });
  expect(await status(playlist)).toBe(503);
  const encoder = startEncoder(stream_url, { seconds: 4, isFast: true });
  expect(await encoder.ended).toBe(0);
  await liveServer.control("POST", "clock/advance", { seconds: 5 });
  let text = "";
  while (!text.includes("1/2.ts")) text = await (await fetch(playlist)).text();
  expect(text).toMatch(/^#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:EVENT\n/);
  const segment = new URL("1/0.ts", playlist).href;
  const response = await fetch(segment);
  expect({ status: response.status, type: response.headers.get("content-type"), cache: response.headers.get("cache-control") }).toEqual({
    ...{ status: 200, type: "video/mp2t", cache: "no-store" },
  });
  expect((await response.bytes())[0]).toBe(0x47);
  // Tries guessed tickets, the ticket of another video, and paths that leave the folder.
  const ticket = playlist.split("/").at(-2) as string;
  const other = await liveServer.create({ status: "LIVE_NOW", embeddable: true });
  for (const path of [
    `${id}/x/live.m3u8`,
    `${id}/${ticket.slice(0, -2)}AA/1/0.ts`,
    `${other.id}/${ticket}/live.m3u8`,
    `${id}/${ticket}/1/99.ts`,
    `${id}/${ticket}/1/index`,
    `${id}/${ticket}/..%2f..%2f${id}/1/0.ts`,
  ])
    expect({ path, status: await status(`${liveServer.server.base_url}/player/${path}`) }).toEqual({ path, status: missing.status });
  // LIVE-24: in a sandbox, the caller chooses the country freely; a playlist from an allowed country does not play in others.
  await liveServer.graph(id, { targeting: { geo_locations: { countries: ["DE"] } } });
  expect([await status(address), await status(`${address}?country=FR`), await status(`${address}?country=DE`)]).toEqual([403, 403, 200]);
  expect([await status(playlist), await status(segment), await status(`${segment}?country=DE`)]).toEqual([403, 403, 200]);
  await liveServer.graph(id, { targeting: {} });
  // LIVE-27.
  expect(await status(segment, { "user-agent": "Mozilla/5.0 (Linux; Android 16) Mobile" })).toBe(403);
  await liveServer.control("POST", `live-videos/${id}/takedown`);
  expect([await status(address), await status(playlist), await status(segment)]).toEqual(Array(3).fill(missing.status));
  await liveServer.control("POST", `live-videos/${id}/restore`);
  expect([await status(address), await status(playlist), await status(segment)]).toEqual([200, 200, 200]);
  expect(await (await fetch(playlist)).text()).toEndWith("#EXT-X-ENDLIST\n");
  expect(await status(segment, { "user-agent": "Mozilla/5.0 (Linux; Android 16) Mobile" })).toBe(200);
  const folder = join(data, "recordings/default", id);
  expect(existsSync(folder)).toBe(true);
  await fetch(`${liveServer.server.base_url}/v26.0/${id}`, { method: "DELETE", headers: { authorization: "Bearer author" } });
  expect([await status(address), await status(playlist), await status(segment)]).toEqual(Array(3).fill(missing.status));
  while (existsSync(folder)) await Bun.sleep(20);
});

test("PostgreSQL: one server takes the stream, another one that sees its recordings serves the player", async () => {
  const database = await (await sharedPostgres()).newDatabase();
  const recordings = join(temporaryFolder(), "recordings");
  const shared = ["--data", database, "--recordings", recordings];
  const taking = new LiveServer(await startServer([...shared, "--rtmp-port", "0", "--world", worldFile(liveWorld)]));
  const serving = new LiveServer(await startServer(shared));
  const { id, stream_url } = await taking.create();
  const encoder = startEncoder(stream_url, { seconds: 3, isFast: true });
  expect(await encoder.ended).toBe(0);
  await serving.stateWhen(id, ({ state }) => state === "reconnecting");
  await serving.control("POST", "clock/advance", { seconds: 5 });
  const playlist = await playlistOf(serving, { id });
  // The server writes the last segments a moment after the feed has ended.
  for (let text = ""; !text.includes("1/1.ts\n"); ) text = await (await fetch(playlist)).text();
  expect((await (await fetch(new URL("1/1.ts", playlist))).bytes())[0]).toBe(0x47);
  // Another server process ends the broadcast, and the encoder is disconnected.
  const again = startEncoder(stream_url);
  await serving.stateWhen(id, ({ feed }) => feed.is_sending);
  await serving.graph(id, { end_live_video: true });
  expect(await again.ended).not.toBe(0);
});

test("LIVE-24: outside a sandbox a trusted proxy names the viewer's country", async () => {
  const world = worldFile({
    apps: [{ id: "1001", name: "Shop" }],
    pages: [{ id: "2001", name: "Cafe" }],
    live_videos: [{ id: "5301", page: "2001", status: "VOD", embeddable: true, targeting: { geo_locations: { countries: ["DE"] } } }],
  });
  const key = { PLAZA_CONTROL_KEY: "a-key-of-24-characters-x" };
  const data = join(temporaryFolder(), "data");
  const statuses = async (further: readonly string[]): Promise<number[]> => {
    const loaded = existsSync(data) ? [] : ["--world", world];
    const server = await startServer(["--data", data, ...loaded, "--no-sandbox", ...further], key);
    const address = `${server.base_url}/player/5301`;
    const requests = [
      fetch(address),
      fetch(`${address}?country=DE`),
      fetch(address, { headers: { "x-country": "FR" } }),
      fetch(address, { headers: { "x-country": "de" } }),
    ];
    const all = (await Promise.all(requests)).map(({ status }) => status);
    await server.stop();
    return all;
  };
  const header = ["--country-header", "X-Country"];
  expect(await statuses(header)).toEqual([403, 403, 403, 403]);
  expect(await statuses([...header, "--trusted-proxies", "127.0.0.1"])).toEqual([403, 403, 403, 200]);
});
