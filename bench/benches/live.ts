import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNginxRtmp } from "#harness/live/nginx-rtmp";
import { APP, PAGE } from "../harness/data.ts";
import { chooseCores, cpuMicroseconds, onCore, residentMegabytes } from "../harness/machine.ts";
import type { Bench } from "../harness/report.ts";
import { type Server, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";
import { prepareSource, pushStreams, type StreamSource } from "../harness/streams.ts";

const STREAMS = 40;
const SOURCE_SECONDS = 40;
/** The time after which all streams have begun; each stream begins at a different picture of its group of pictures. */
const SETTLED_MS = 4_000;
/**
 * The time between a video's going live and the moment at which it is shown. Because of this delay, the videos go live before
 * their encoders connect.
 */
const START_DELAY_MS = 5_000;
const LOOK_EVERY_MS = 50;
const TOKEN = "bench-author-token";

const data = {
  apps: [{ id: APP, name: "Bench", secret: "bench secret" }],
  pages: [{ id: PAGE, name: "Bench page" }],
  tokens: [{ token: TOKEN, type: "page", app: APP, page: PAGE, scopes: ["pages_manage_posts", "pages_read_engagement"] }],
};

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Video {
  readonly id: string;
  readonly stream_key: string;
}

interface Round {
  readonly cpuOfCore: number;
  readonly megabytes: number;
  readonly liveMs: readonly number[];
  readonly playableMs: readonly number[];
}

/** Returns the id of the process that receives streams, which is the server's only child process. */
function ingestOf(server: Server): number {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (new RegExp(`^PPid:\\s+${server.pid}$`, "m").test(readFileSync(`/proc/${name}/status`, "utf8"))) return Number(name);
    } catch {
      // The process has already ended.
    }
  }
  throw new Error("the server has no ingest process");
}

async function createVideo(server: Server): Promise<Video> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v26.0/${PAGE}/live_videos`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ status: "LIVE_NOW", embeddable: true }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Video;
}

async function playlistOf(server: Server, { id }: Video): Promise<string> {
  const base = `http://127.0.0.1:${server.port}/player/`;
  const page = await (await fetch(base + id)).text();
  return base + (/data-source="([^"]+)"/.exec(page)?.[1] ?? "");
}

/** Returns the time at which `isThere` was first true for each video. */
async function timesUntil(videos: readonly Video[], isThere: (video: Video) => Promise<boolean>): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  while (times.size < videos.length) {
    for (const video of videos) if (!times.has(video.id) && (await isThere(video))) times.set(video.id, performance.now());
    await wait(LOOK_EVERY_MS);
  }
  return times;
}

/** A server that receives the streams, with a function that counts the data that arrived. */
interface Side {
  /** The id of the process whose CPU time is measured. */
  readonly pid: number;
  /** The address for encoders: `{hostname}:{port}`. */
  readonly host: string;
  readonly videos: readonly Video[];
  isLive(video: Video): Promise<boolean>;
  isPlayable(video: Video): Promise<boolean>;
}

async function measure({ pid, host, videos, isLive, isPlayable }: Side, source: StreamSource, seconds: number): Promise<Round> {
  const idleMegabytes = residentMegabytes(pid);
  const pushing = pushStreams(
    source,
    host,
    videos.map(({ stream_key }) => stream_key),
    onCore(chooseCores()?.client),
  );
  try {
    const [admitted, live, playable] = await Promise.all([pushing.admitted, timesUntil(videos, isLive), timesUntil(videos, isPlayable)]);
    const since = (times: ReadonlyMap<string, number>) =>
      videos.map(({ id, stream_key }) => (times.get(id) as number) - (admitted.get(stream_key) as number));
    await wait(SETTLED_MS);
    const [cpuBefore, before] = [cpuMicroseconds(pid), performance.now()];
    await wait(seconds * 1000);
    const cpu = cpuMicroseconds(pid) - cpuBefore;
    const cpuOfCore = cpu / ((performance.now() - before) * 1000) / STREAMS;
    return { cpuOfCore, megabytes: (residentMegabytes(pid) - idleMegabytes) / STREAMS, liveMs: since(live), playableMs: since(playable) };
  } finally {
    await pushing.stop();
  }
}

async function measurePlaza(sourceFolder: string, seconds: number): Promise<Round> {
  const server = await startPlaza({ world: data, takesStreams: true });
  try {
    const { control_url, control_key, rtmp_url } = server.ready as Record<string, string>;
    const videos = await Promise.all(Array.from({ length: STREAMS }, () => createVideo(server)));
    const playlists = new Map(await Promise.all(videos.map(async (video) => [video.id, await playlistOf(server, video)] as const)));
    await wait(START_DELAY_MS);
    const side: Side = {
      ...{ pid: ingestOf(server), host: new URL(rtmp_url as string).host, videos },
      isLive: async ({ id }) => {
        const headers = { authorization: `Bearer ${control_key}` };
        const response = await fetch(`${control_url}/v1/worlds/default/live-videos/${id}/ingest`, { headers });
        return ((await response.json()) as { feed: { is_sending: boolean } }).feed.is_sending;
      },
      isPlayable: async ({ id }) => (await fetch(playlists.get(id) as string)).status === 200,
    };
    return await measure(side, await prepareSource(sourceFolder, SOURCE_SECONDS), seconds);
  } finally {
    await server.stop();
  }
}

/** Measures nginx. nginx does not know whether a video is live, so its streams count as live when nginx has admitted them. */
async function measureNginx(sourceFolder: string, seconds: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), "plaza-bench-"));
  const nginx = await startNginxRtmp(folder, [], onCore(chooseCores()?.server));
  try {
    const videos = Array.from({ length: STREAMS }, (_, i) => ({ id: String(i), stream_key: `stream${i}` }));
    const isPlayable = async ({ stream_key }: Video): Promise<boolean> => existsSync(join(nginx.segments, `${stream_key}.m3u8`));
    const side: Side = { pid: nginx.pid, host: nginx.host, videos, isLive: async () => true, isPlayable };
    return await measure(side, await prepareSource(sourceFolder, SOURCE_SECONDS), seconds);
  } finally {
    await nginx.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const bench: Bench = {
  summary: `${STREAMS} encoders send 720p at 3 Mbit/s with B-frames and a key frame every 2 s over RTMP; CPU and memory are those of the ingest process, which records all streams. For comparison, nginx with its RTMP module gets the same streams in turn and packages them as HLS too; nginx checks no stream keys and keeps no state of the videos.`,
  async run({ rounds, seconds }) {
    const plaza: Round[] = [];
    const nginx: Round[] = [];
    const folder = mkdtempSync(join(tmpdir(), "plaza-bench-"));
    try {
      for (let i = 0; i < rounds; i++) {
        const sides = [
          async () => void plaza.push(await measurePlaza(folder, seconds)),
          async () => void nginx.push(await measureNginx(folder, seconds)),
        ];
        for (const side of i % 2 === 0 ? sides : sides.reverse()) await side();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const each = (results: readonly Round[], name: "liveMs" | "playableMs") => results.flatMap((round) => round[name]);
    const sides = [["Plaza", plaza] as const, ["nginx", nginx] as const];
    return {
      metrics: [
        { name: "streams per core", ...spreadOf(plaza.map(({ cpuOfCore }) => 1 / cpuOfCore)), goal: { at_least: 100 } },
        { name: "publish to live", unit: "ms", ...spreadOf(each(plaza, "liveMs")), goal: { at_most: 2_000 } },
        { name: "publish to playable", unit: "ms", ...spreadOf(each(plaza, "playableMs")), goal: { at_most: 5_000 } },
        {
          name: "streams per core (Plaza divided by nginx)",
          ...spreadOf(plaza.map(({ cpuOfCore }, i) => (nginx[i]?.cpuOfCore ?? Number.NaN) / cpuOfCore)),
        },
      ],
      absolute: [
        ...sides.map(([name, results]) => ({
          ...{ name: `${name}: CPU a stream`, unit: "% of a core" },
          ...spreadOf(results.map(({ cpuOfCore }) => cpuOfCore * 100)),
        })),
        ...sides.map(([name, results]) => ({ name: `${name}: memory a stream`, unit: "MB", ...spreadOf(results.map(({ megabytes }) => megabytes)) })),
        { name: "nginx: publish to playable", unit: "ms", ...spreadOf(each(nginx, "playableMs")) },
      ],
    };
  },
};
