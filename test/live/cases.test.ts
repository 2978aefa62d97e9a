import { expect, test } from "bun:test";
import { join } from "node:path";
import { type EncoderOptions, startEncoder } from "#harness/live/encoder";
import { ingestOf, type LiveServer, openLiveServer } from "#harness/live/live-server";
import { pushFile } from "#harness/live/pusher";
import { handshake } from "#harness/live/rtmp";
import { embed, playlistOf, playsUntil } from "#harness/live/viewer";
import { temporaryFolder } from "#harness/server";
import { readRecording } from "#recordings/read-recording";

const dataFolder = (): string => join(temporaryFolder(), "data");
const isVod = ({ status }: { status: string }): boolean => status === "VOD";

/** Makes a prepared stream as a file, as an encoder writes it. */
async function fileOf(seconds: number, options: EncoderOptions = {}): Promise<string> {
  const file = join(temporaryFolder(), "stream.flv");
  expect(await startEncoder(file, { seconds, isFast: true, bFrames: 2, ...options }).ended).toBe(0);
  return file;
}

/** Opens players of the recordings, checks that they play and can seek to their ends, and returns their lengths in seconds. */
async function playVods(liveServer: LiveServer, ...ids: readonly string[]): Promise<number[]> {
  const { page, player } = await embed(liveServer, ...ids);
  const lengths = [];
  for (const id of ids) {
    const { duration, error } = await playsUntil(page, player + id, ({ currentTime, duration }) => currentTime > 0.5 && duration !== null);
    expect(error).toBeNull();
    await page.evaluate(player + id, `document.querySelector("video").currentTime = ${(duration as number) - 0.8}`);
    expect((await playsUntil(page, player + id, ({ ended }) => ended)).error).toBeNull();
    lengths.push(duration as number);
  }
  return lengths;
}

test("LIVE-3: streams as ffmpeg sends them, with B-frames, in chunks of 128 and of 4096 bytes, play live and as VOD", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const file = await fileOf(60);
  const ways: ((url: string) => unknown)[] = [
    (url) => startEncoder(url),
    (url) => startEncoder(url, { bFrames: 3, keyFrameSeconds: 2 }),
    (url) => pushFile(file, url, { chunkBytes: 128 }),
    (url) => pushFile(file, url, { chunkBytes: 4096 }),
  ];
  const videos = await Promise.all(ways.map(() => liveServer.createShown()));
  const ids = videos.map(({ id }) => id);
  for (const [i, push] of ways.entries()) await push(videos[i]?.stream_url as string);
  const { page, player } = await embed(liveServer, ...ids);
  for (const id of ids) {
    const live = await playsUntil(page, player + id, ({ currentTime }) => currentTime > 0.5);
    expect((await playsUntil(page, player + id, ({ currentTime }) => currentTime > live.currentTime + 1)).error).toBeNull();
  }
  for (const id of ids) await liveServer.graph(id, { end_live_video: true });
  for (const id of ids) await playsUntil(page, player + id, ({ ended }) => ended);
  for (const length of await playVods(liveServer, ...ids)) expect(length).toBeGreaterThan(2);
});

test("LIVE-11: audio that stops ends the broadcast after 10 s, and the recorded part plays", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  const pusher = await pushFile(await fileOf(20), stream_url, { chunkBytes: 4096, audioUntilMs: 6_000 });
  expect(await liveServer.stateWhen(id, isVod)).toMatchObject({ end_reason: "NO_AUDIO" });
  await pusher.closed;
  expect((await playVods(liveServer, id))[0]).toBeGreaterThan(5);
});

test("D-297: steps of an encoder's clock are discontinuities with a warning, and the recording continues", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const [file, short] = [await fileOf(16), await fileOf(9)];
  const ways: [string | readonly string[], Omit<Parameters<typeof pushFile>[2], "chunkBytes">, seconds: number, steps: number][] = [
    [file, { stamp: ({ ms }) => ms + (ms < 7_000 ? 0 : 12_000) }, 16, 1],
    [file, { stamp: ({ ms }) => ms - (ms < 13_000 ? 0 : 12_000) }, 16, 1],
    [file, { stamp: ({ ms, isAudio }) => ms - (ms < 13_000 || !isAudio ? 0 : 12_000) }, 16, 1],
    [file, { stamp: ({ ms }) => ms + (ms < 7_000 ? 0 : 60_000) }, 16, 1],
    [[short, short], {}, 18, 1],
  ];
  const videos = await Promise.all(ways.map(() => liveServer.createShown()));
  const pushers = await Promise.all(ways.map(([path, how], i) => pushFile(path, videos[i]?.stream_url as string, { chunkBytes: 4096, ...how })));
  for (const [i, [, , seconds, steps]] of ways.entries()) {
    const { id } = videos[i] as { id: string };
    const { health } = await liveServer.stateWhen(id, (state) => state.health?.clock_steps === steps);
    expect(health?.warnings.filter((warning) => warning.includes("clock jumped once"))).toHaveLength(1);
    const lengthOf = (playlist: string) => [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, length]) => sum + Number(length), 0);
    const playlist = async () => (await fetch(await playlistOf(liveServer, { id }))).text();
    await pushers[i]?.sent;
    pushers[i]?.end();
    await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
    await liveServer.graph(id, { end_live_video: true });
    await liveServer.stateWhen(id, isVod);
    const vod = await playlist();
    expect({ i, breaks: vod.split("#EXT-X-DISCONTINUITY\n").length - 1 }).toEqual({ i, breaks: steps });
    expect(Math.abs(lengthOf(vod) - seconds)).toBeLessThan(0.5);
  }
  const lengths = await playVods(liveServer, ...videos.map(({ id }) => id));
  expect(lengths).toHaveLength(ways.length);
  for (const [i, length] of lengths.entries()) expect(Math.abs(length - (ways[i]?.[2] as number))).toBeLessThan(0.7);
});

test("D-297: another size and another sample rate in one connection are a discontinuity, over which hls.js and ffmpeg continue to play", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.createShown();
  const files = [await fileOf(4), await fileOf(4, { size: "256x144", sampleRate: 48_000 })];
  const { page, player } = await embed(liveServer, id);
  const pusher = await pushFile(files, stream_url, { chunkBytes: 4096 });
  await playsUntil(page, player, ({ width }) => width === 320);
  const after = await playsUntil(page, player, ({ width }) => width === 256);
  expect((await playsUntil(page, player, ({ currentTime }) => currentTime > after.currentTime + 0.5)).error).toBeNull();
  await pusher.sent;
  pusher.end();
  await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  await liveServer.graph(id, { end_live_video: true });
  await liveServer.stateWhen(id, isVod);
  const address = await playlistOf(liveServer, { id });
  const playlist = await (await fetch(address)).text();
  expect(playlist.split("#EXT-X-DISCONTINUITY\n")).toHaveLength(2);
  expect(playlist).toContain("#EXT-X-TARGETDURATION:6\n");
  expect((await playVods(liveServer, id))[0]).toBeCloseTo(8, 0);
  const decoded = Bun.spawn(["ffmpeg", "-v", "fatal", "-nostdin", "-i", address, "-f", "null", "-"], { stdout: "ignore", stderr: "pipe" });
  expect({ code: await decoded.exited, said: await new Response(decoded.stderr).text() }).toEqual({ code: 0, said: "" });
});

test("LIVE-9: an encoder that reconnects too late is refused, and the broadcast ends with the recorded part", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  expect(await startEncoder(stream_url, { seconds: 4, isFast: true }).ended).toBe(0);
  await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  await liveServer.control("POST", "clock/advance", { seconds: 151 });
  await liveServer.stateWhen(id, ({ state }) => state === "key_dead");
  const late = startEncoder(stream_url);
  expect(await late.ended).not.toBe(0);
  expect(await late.messages).toContain("Unknown stream key");
  await liveServer.control("POST", "clock/advance", { seconds: 601 });
  expect(await liveServer.stateWhen(id, isVod)).toMatchObject({ end_reason: "KEY_EXPIRED" });
  expect((await playVods(liveServer, id))[0]).toBeCloseTo(4, 0);
});

test("LIVE-9: a viewer does not notice wrong keys, a second encoder or garbage on the port, and sees the encoder that replaces a half-open one", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url, stream_key } = await liveServer.createShown();
  const { page, player } = await embed(liveServer, id);
  const first = startEncoder(stream_url);
  const { currentTime } = await playsUntil(page, player, (playing) => playing.currentTime > 0.5);
  const wrong = startEncoder(stream_url.replace(stream_key, "wrong"));
  const second = startEncoder(stream_url);
  const { hostname, port } = new URL(stream_url.replace("rtmp:", "http:"));
  await Bun.connect({
    ...{ hostname, port: Number(port) },
    socket: { open: (socket) => void socket.write(Buffer.concat([handshake(), Buffer.alloc(4096, 0xff)])), data: () => {} },
  });
  expect([await wrong.ended, await second.ended]).not.toContain(0);
  expect([await wrong.messages, await second.messages].join()).toMatch(/Unknown stream key.*Another encoder/s);
  expect(await playsUntil(page, player, (playing) => playing.currentTime > currentTime + 2)).toMatchObject({ width: 320, error: null });
  // The encoder's network fails: no bytes arrive, and nothing closes the connection.
  process.kill(first.pid, "SIGSTOP");
  for (let code = 1; code !== 0; ) {
    const taking = startEncoder(stream_url, { size: "256x144", seconds: 30 });
    const state = await Promise.race([taking.ended, liveServer.stateWhen(id, ({ feed }) => feed.session === 2)]);
    code = typeof state === "number" ? state : 0;
  }
  const taken = await playsUntil(page, player, ({ width }) => width === 256);
  expect((await playsUntil(page, player, (playing) => playing.currentTime > taken.currentTime + 1)).error).toBeNull();
});

test("LIVE-9: a viewer of a server that is killed and restarted continues, and the VOD has both parts", async () => {
  const data = dataFolder();
  const before = await openLiveServer(data);
  const { id, stream_url } = await before.createShown();
  const { page, player } = await embed(before, id);
  startEncoder(stream_url);
  const { currentTime } = await playsUntil(page, player, (playing) => playing.currentTime > 1);
  await before.server.kill();
  const ports = ["--port", new URL(before.server.base_url).port, "--rtmp-port", new URL(stream_url.replace("rtmp:", "http:")).port];
  const after = await openLiveServer(data, ports);
  expect(await after.state(id)).toMatchObject({ state: "reconnecting" });
  const second = startEncoder(stream_url, { size: "256x144" });
  const back = await playsUntil(page, player, ({ width }) => width === 256);
  expect(back.currentTime).toBeGreaterThan(currentTime);
  expect((await playsUntil(page, player, (playing) => playing.currentTime > back.currentTime + 1)).error).toBeNull();
  await after.graph(id, { end_live_video: true });
  await second.ended;
  expect((await playVods(after, id))[0]).toBeGreaterThan(back.currentTime);
});

test("D-296: after SIGKILL an ended broadcast is a VOD whose playlist ends, and a restored world's next feed has a new session", async () => {
  const data = dataFolder();
  const before = await openLiveServer(data);
  const { id, stream_url, stream_key } = await before.createShown();
  await before.control("POST", "snapshots", { name: "before" });
  startEncoder(stream_url);
  await before.stateWhen(id, ({ feed }) => feed.is_sending);
  const recorded = async () => readRecording(join(data, "recordings"), "default", id);
  while (((await recorded())[0]?.segments.length ?? 0) < 2) await Bun.sleep(50);
  await before.server.kill();
  const after = await openLiveServer(data);
  await after.graph(id, { end_live_video: true });
  await after.stateWhen(id, isVod);
  const vod = await (await fetch(await playlistOf(after, { id }))).text();
  expect(vod.trimEnd().split("\n").at(-1)).toBe("#EXT-X-ENDLIST");
  expect(await after.control("POST", "snapshots/before/restore")).not.toHaveProperty("error");
  const again = startEncoder(`${after.server.rtmp_url}/${stream_key}`);
  expect(await after.stateWhen(id, ({ feed }) => feed.is_sending)).toMatchObject({ state: "live", feed: { session: 2 } });
  while ((await recorded()).length < 2 || (await recorded())[1]?.segments.length === 0) await Bun.sleep(50);
  const live = await (await fetch(await playlistOf(after, { id }))).text();
  expect(live).toMatch(/1\/0\.ts.*#EXT-X-DISCONTINUITY\n.*2\/0\.ts/s);
  await again.kill();
});

test("a full disk ends the broadcast, keeps the recorded part, and does not affect the database", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  const encoder = startEncoder(stream_url);
  await liveServer.stateWhen(id, (state) => typeof state.health?.key_frame_ms === "number");
  // The files that the ingest process writes cannot grow, as on a full disk.
  const limited = Bun.spawn(["prlimit", "--pid", String(ingestOf(liveServer)), "--fsize=1024"]);
  expect(await limited.exited).toBe(0);
  expect(await liveServer.stateWhen(id, isVod)).toMatchObject({ end_reason: "NO_STORAGE" });
  expect(await encoder.ended).not.toBe(0);
  expect(await encoder.messages).toContain("cannot be stored");
  expect(await liveServer.graph(id, { title: "written" })).toMatchObject({ id });
  expect((await playVods(liveServer, id))[0]).toBeGreaterThan(0.9);
});

test("a broadcast that would need the reserve of the disk ends, and the database continues", async () => {
  const liveServer = await openLiveServer(dataFolder(), ["--disk-reserve-bytes", String(Number.MAX_SAFE_INTEGER)]);
  const { id, stream_url } = await liveServer.create();
  expect(await startEncoder(stream_url).ended).not.toBe(0);
  expect(await liveServer.stateWhen(id, isVod)).toMatchObject({ end_reason: "NO_STORAGE" });
  expect(await liveServer.create()).toHaveProperty("stream_key");
});
