/** Checks the server's own encoder, which `plaza live` starts and which needs no browser and no other program. */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { probe, startEncoder } from "#harness/live/encoder";
import { LiveServer, liveWorld, openLiveServer } from "#harness/live/live-server";
import { playlistOf } from "#harness/live/viewer";
import { type Server, startServer, temporaryFolder, worldFile } from "#harness/server";
import { endAll, runPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const dataFolder = (): string => join(temporaryFolder(), "data");
const live = ({ control_url, control_key }: Server, ...words: readonly string[]) =>
  runPlaza(["live", ...words, "--control-url", control_url], { env: { PLAZA_CONTROL_KEY: control_key as string } });

/** The number of encoders that are connected, counted at the other end of their connections. */
function encodersOf({ rtmp_url }: Server): number {
  const port = Number(new URL((rtmp_url as string).replace("rtmp:", "http:")).port);
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  // Each line of the file has the local address, the remote address and the state of a connection. The state 01 means that the connection is
  // established.
  return readFileSync("/proc/net/tcp", "utf8").split(`:${hex} 01 `).length - 1;
}

const untilNone = async (server: Server): Promise<void> => {
  while (encodersOf(server) > 0) await Bun.sleep(20);
};

test("LIVE-3: the clip is published, and its playlist and segments continue beyond its end; it stops, begins again, and ends with the broadcast", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { server } = liveServer;
  const { id } = await liveServer.create({ status: "UNPUBLISHED", embeddable: true });
  const played = await live(server, "play", id);
  expect(played).toMatchObject({ code: 0, stderr: "" });
  expect(played.stdout).toContain(`${server.base_url}/player/${id}\n`);
  expect(await liveServer.state(id)).toMatchObject({ state: "live", feed: { is_sending: true, session: 1 }, test_encoder: true });
  expect(await live(server, "play", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("an encoder sends already") });
  await liveServer.control("POST", "clock/advance", { seconds: 5 });
  const playlist = await playlistOf(liveServer, { id });
  // The stream is so long that the clip has ended and begun a second time.
  let text = "";
  while (!text.includes("1/4.ts")) text = await (await fetch(playlist)).text();
  const segments = [...text.matchAll(/#EXTINF:([\d.]+),\n(\S+)/g)].map(([, seconds, name = ""]) => ({ seconds, name }));
  expect(new Set(segments.map(({ seconds }) => seconds))).toEqual(new Set(["1.600"]));
  const parts = await Promise.all(segments.map(async ({ name }) => (await fetch(new URL(name, playlist))).bytes()));
  const file = join(temporaryFolder(), "joined.ts");
  writeFileSync(file, Buffer.concat(parts));
  const { packets, problems } = await probe(file);
  expect(problems).toBe("");
  const stepsOf = (kind: string): Set<number> => {
    const times = packets.filter(({ codec_type }) => codec_type === kind).map(({ dts_time }) => Number(dts_time));
    return new Set(times.slice(1).map((time, at) => Math.round((time - (times[at] as number)) * 1_000)));
  };
  expect(stepsOf("video")).toEqual(new Set([40]));
  expect(Math.max(...stepsOf("audio"))).toBeLessThanOrEqual(23);
  const { health } = await liveServer.stateWhen(id, (state) => state.health?.key_frame_ms === 1_600);
  expect(health).toMatchObject({ width: 640, height: 360, warnings: [], gaps: 0 });
  expect(await live(server, "stop", id)).toMatchObject({ code: 0, stderr: "" });
  expect(await liveServer.state(id)).toMatchObject({ state: "reconnecting", feed: { is_sending: false }, test_encoder: false });
  await untilNone(server);
  expect(await live(server, "stop", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("does not send") });
  expect((await live(server, "play", id)).code).toBe(0);
  await liveServer.graph(id, { end_live_video: true });
  await untilNone(server);
  expect(await liveServer.stateWhen(id, ({ test_encoder }) => test_encoder === false)).toMatchObject({ status: "VOD" });
  expect(await live(server, "play", id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no encoder can send to a live video that is vod"),
  });
});

test("it stops when its video is deleted, and when its world is reset; a preview stays unpublished", async () => {
  const world = { ...liveWorld, live_videos: [{ id: "5301", page: "2001" }] };
  const liveServer = new LiveServer(await startServer(["--data", ":memory:", "--rtmp-port", "0", "--world", worldFile(world)]));
  const { id } = await liveServer.create({ status: "UNPUBLISHED" });
  for (const video of [id, "5301"]) expect((await live(liveServer.server, "play", video, "--preview")).code).toBe(0);
  expect(await liveServer.state(id)).toMatchObject({ state: "unpublished", feed: { is_sending: true }, test_encoder: true });
  expect(encodersOf(liveServer.server)).toBe(2);
  await liveServer.remove(id);
  while (encodersOf(liveServer.server) > 1) await Bun.sleep(20);
  await liveServer.control("POST", "reset");
  await untilNone(liveServer.server);
  expect(await liveServer.state("5301")).toMatchObject({ state: "unpublished", feed: { is_sending: false }, test_encoder: false });
});

test("an encoder replaces it, and it replaces none", async () => {
  const liveServer = await openLiveServer(dataFolder());
  const { id, stream_url } = await liveServer.create();
  expect((await live(liveServer.server, "play", id)).code).toBe(0);
  startEncoder(stream_url);
  expect(await liveServer.stateWhen(id, ({ feed }) => feed.session === 2)).toMatchObject({ state: "live", feed: { is_sending: true } });
  await liveServer.stateWhen(id, ({ test_encoder }) => !test_encoder);
  expect(await live(liveServer.server, "play", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("an encoder sends already") });
});

test("if encoders cannot connect, one sentence says what to do", async () => {
  const server = await startServer(["--world", worldFile({ ...liveWorld, live_videos: [{ id: "5301", page: "2001" }] })]);
  const said = "plaza: encoders cannot connect to this server: start the server with --rtmp-port\n";
  expect(await live(server, "play", "5301")).toMatchObject({ code: 1, stdout: "", stderr: said });
  expect(await live(server, "play", "1")).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no live video 1") });
});
