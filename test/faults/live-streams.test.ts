import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEncoder } from "#harness/live/encoder";
import { ingestOf, type LiveServer, openLiveServer } from "#harness/live/live-server";
import { handshake } from "#harness/live/rtmp";
import { isProving, tries } from "#harness/proof";
import { temporaryFolder } from "#harness/server";

/** The number of streams that run at the same time. */
const STREAMS = tries(5, 20);
const SOAK_MS = tries(0, 20 * 60_000);
/** The shortest time that each stream lasts in a soak test. */
const SENDING_MS = tries(0, 5_000);
/** The amount of memory that the runtime may keep instead of returning it to the system. The segments and buffers of one stream are about 2 MB. */
const GROWTH_MB_MAX = 60;

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const megabytes = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const WAYS = 5;

/** Sends a stream that ends in one of several ways, and then deletes its video. */
async function streamOnce(liveServer: LiveServer, way: number): Promise<void> {
  const { id, stream_url } = await liveServer.create();
  if (way === 0) {
    const { hostname, port } = new URL(stream_url.replace("rtmp:", "http:"));
    const garbage = Buffer.concat([handshake(), Buffer.from(crypto.getRandomValues(new Uint8Array(4096)))]);
    await new Promise<void>((resolve) => {
      void Bun.connect({
        hostname,
        port: Number(port),
        socket: { open: (socket) => void socket.write(garbage), data: () => {}, close: () => resolve() },
      });
    });
  } else if (way === 1) {
    const encoder = startEncoder(stream_url, { seconds: 60 });
    await liveServer.stateWhen(id, ({ feed }) => feed.is_sending);
    await Bun.sleep(SENDING_MS);
    await encoder.kill();
    await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  } else if (way === 2) {
    await startEncoder(stream_url, { seconds: 20, hasAudio: false, isFast: true }).ended;
    await liveServer.stateWhen(id, ({ status }) => status === "VOD");
  } else if (way === 3) {
    const encoder = startEncoder(stream_url, { seconds: 60 });
    await liveServer.stateWhen(id, ({ feed }) => feed.is_sending);
    await Bun.sleep(SENDING_MS);
    await liveServer.graph(id, { end_live_video: true });
    await encoder.ended;
  } else {
    expect(await startEncoder(stream_url, { seconds: 5, bFrames: 2, isFast: true }).ended).toBe(0);
    await liveServer.stateWhen(id, ({ state }) => state === "reconnecting");
  }
  await liveServer.remove(id);
}

test(`${STREAMS} streams that begin and end in every way leave no socket, no file and no memory`, async () => {
  const data = join(temporaryFolder(), "data");
  const liveServer = await openLiveServer(data);
  const pid = ingestOf(liveServer);
  const round = () => Promise.all(Array.from({ length: STREAMS }, (_, way) => streamOnce(liveServer, way % WAYS)));
  const isQuiet = async (files: number): Promise<void> => {
    // Sockets close a moment after the streams have ended.
    while (openFiles(pid) > files) await Bun.sleep(100);
  };
  const files = openFiles(pid);
  await round();
  await isQuiet(files);
  const before = [megabytes(pid), megabytes(liveServer.server.pid)];
  const serverFiles = openFiles(liveServer.server.pid);
  const until = performance.now() + SOAK_MS;
  // In each of the parallel loops, one stream follows the other. The streams end in different ways, so that all ways occur at the same time.
  const place = async (first: number): Promise<void> => {
    let way = first;
    do await streamOnce(liveServer, way++ % WAYS);
    while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: STREAMS }, (_, way) => place(way)));
  await isQuiet(files);
  const grown = [megabytes(pid), megabytes(liveServer.server.pid)].map((now, i) => Math.round(now - (before[i] as number)));
  if (isProving) console.log(`the ingest process has grown by ${grown[0]} MB, the server by ${grown[1]} MB`);
  for (const growth of grown) expect(growth).toBeLessThan(GROWTH_MB_MAX);
  // At the end, the only connections that may be left are this test's own, which are kept alive.
  expect(openFiles(liveServer.server.pid) - serverFiles).toBeLessThan(2 * STREAMS);
  expect(ingestOf(liveServer)).toBe(pid);
  const left = (): string[] => readdirSync(join(data, "recordings"), { recursive: true }).filter((name) => /\.|index/.test(String(name))) as string[];
  // The recordings of deleted videos are removed in the background.
  while (left().length > 0) await Bun.sleep(100);
});
