import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEncoder } from "#harness/live/encoder";
import { handshake } from "#harness/live/rtmp";
import { openStudio, type Studio } from "#harness/live/studio";
import { tries } from "#harness/proof";
import { temporaryFolder } from "#harness/server";

const STREAMS = 5;
/** What the runtime keeps of memory it once had; a stream's segments and buffers are some 2 MB. */
const GROWTH_MB_MAX = 60;

function ingestOf({ server }: Studio): number {
  const isChild = (pid: string): boolean => {
    try {
      return new RegExp(`^PPid:\\s+${server.pid}$`, "m").test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };
  return Number(readdirSync("/proc").find((name) => /^\d+$/.test(name) && isChild(name)));
}

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const megabytes = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** A stream that ends in one of the ways in which streams end. */
async function streamOnce(studio: Studio, way: number): Promise<void> {
  const { id, stream_url } = await studio.create();
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
    await studio.stateWhen(id, ({ feed }) => feed.is_sending);
    await encoder.kill();
    await studio.stateWhen(id, ({ state }) => state === "reconnecting");
  } else if (way === 2) {
    await startEncoder(stream_url, { seconds: 20, hasAudio: false, isFast: true }).ended;
    await studio.stateWhen(id, ({ status }) => status === "VOD");
  } else if (way === 3) {
    const encoder = startEncoder(stream_url, { seconds: 60 });
    await studio.stateWhen(id, ({ feed }) => feed.is_sending);
    await studio.graph(id, { end_live_video: true });
    await encoder.ended;
  } else {
    expect(await startEncoder(stream_url, { seconds: 5, bFrames: 2, isFast: true }).ended).toBe(0);
    await studio.stateWhen(id, ({ state }) => state === "reconnecting");
  }
}

test("streams that come and go in every way leave no socket, no file and no memory", async () => {
  const data = join(temporaryFolder(), "data");
  const studio = await openStudio(data);
  const pid = ingestOf(studio);
  const round = () => Promise.all(Array.from({ length: STREAMS }, (_, way) => streamOnce(studio, way)));
  const isQuiet = async (files: number): Promise<void> => {
    // Sockets close a moment after their streams have ended.
    while (openFiles(pid) > files) await Bun.sleep(100);
  };
  const files = openFiles(pid);
  await round();
  await isQuiet(files);
  const before = megabytes(pid);
  for (let i = 0; i < tries(1, 400); i++) await round();
  await isQuiet(files);
  expect(megabytes(pid) - before).toBeLessThan(GROWTH_MB_MAX);
  expect(ingestOf(studio)).toBe(pid);
  const parts = readdirSync(join(data, "recordings"), { recursive: true }).filter((name) => String(name).endsWith(".part"));
  expect(parts).toEqual([]);
});
