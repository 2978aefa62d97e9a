import { readdirSync, readFileSync } from "node:fs";
import { APP, PAGE } from "../harness/data.ts";
import { chooseCores, cpuMicroseconds, onCore, residentMegabytes } from "../harness/machine.ts";
import type { Bench } from "../harness/report.ts";
import { type Server, startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";
import { prepareSource, pushStreams, type StreamSource } from "../harness/streams.ts";

const STREAMS = 40;
const SOURCE_SECONDS = 40;
/** All have begun, and each is at its own place in its group of pictures. */
const SETTLED_MS = 4_000;
/** A video is shown so long after it went live, so the videos are live before their encoders come. */
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

/** The server's only child. */
function ingestOf(server: Server): number {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (new RegExp(`^PPid:\\s+${server.pid}$`, "m").test(readFileSync(`/proc/${name}/status`, "utf8"))) return Number(name);
    } catch {
      // It has ended meanwhile.
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

/** When each video had what was looked for. */
async function timesUntil(videos: readonly Video[], isThere: (video: Video) => Promise<boolean>): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  while (times.size < videos.length) {
    for (const video of videos) if (!times.has(video.id) && (await isThere(video))) times.set(video.id, performance.now());
    await wait(LOOK_EVERY_MS);
  }
  return times;
}

async function measure(server: Server, source: StreamSource, seconds: number): Promise<Round> {
  const { control_url, control_key, rtmp_url } = server.ready as Record<string, string>;
  const ingest = ingestOf(server);
  const idleMegabytes = residentMegabytes(ingest);
  const videos = await Promise.all(Array.from({ length: STREAMS }, () => createVideo(server)));
  const playlists = new Map(await Promise.all(videos.map(async (video) => [video.id, await playlistOf(server, video)] as const)));
  await wait(START_DELAY_MS);
  const pushing = pushStreams(
    source,
    new URL(rtmp_url as string).host,
    videos.map(({ stream_key }) => stream_key),
    onCore(chooseCores()?.client),
  );
  try {
    const isLive = async ({ id }: Video): Promise<boolean> => {
      const response = await fetch(`${control_url}/v1/worlds/default/live-videos/${id}/ingest`, {
        headers: { authorization: `Bearer ${control_key}` },
      });
      return ((await response.json()) as { feed: { is_sending: boolean } }).feed.is_sending;
    };
    const isPlayable = async ({ id }: Video): Promise<boolean> => (await fetch(playlists.get(id) as string)).status === 200;
    const [admitted, live, playable] = await Promise.all([pushing.admitted, timesUntil(videos, isLive), timesUntil(videos, isPlayable)]);
    const since = (times: ReadonlyMap<string, number>) =>
      videos.map(({ id, stream_key }) => (times.get(id) as number) - (admitted.get(stream_key) as number));
    await wait(SETTLED_MS);
    const [cpuBefore, before] = [cpuMicroseconds(ingest), performance.now()];
    await wait(seconds * 1000);
    const cpu = cpuMicroseconds(ingest) - cpuBefore;
    const cpuOfCore = cpu / ((performance.now() - before) * 1000) / STREAMS;
    return { cpuOfCore, megabytes: (residentMegabytes(ingest) - idleMegabytes) / STREAMS, liveMs: since(live), playableMs: since(playable) };
  } finally {
    await pushing.stop();
  }
}

export const bench: Bench = {
  summary: `${STREAMS} encoders send 720p at 3 Mbit/s with B-frames and a key frame every 2 s over RTMP; CPU and memory are those of the ingest process, which records all of them.`,
  async run({ rounds, seconds }) {
    const results: Round[] = [];
    for (let i = 0; i < rounds; i++) {
      const server = await startPlaza({ world: data, takesStreams: true });
      try {
        results.push(await measure(server, await prepareSource(server.folder, SOURCE_SECONDS), seconds));
      } finally {
        await server.stop();
      }
    }
    const each = (name: "liveMs" | "playableMs") => results.flatMap((round) => round[name]);
    return {
      metrics: [
        { name: "streams a core", ...spreadOf(results.map(({ cpuOfCore }) => 1 / cpuOfCore)), goal: { at_least: 100 } },
        { name: "publish to live", unit: "ms", ...spreadOf(each("liveMs")), goal: { at_most: 2_000 } },
        { name: "publish to playable", unit: "ms", ...spreadOf(each("playableMs")), goal: { at_most: 5_000 } },
      ],
      absolute: [
        { name: "CPU a stream", unit: "% of a core", ...spreadOf(results.map(({ cpuOfCore }) => cpuOfCore * 100)) },
        { name: "memory a stream", unit: "MB", ...spreadOf(results.map(({ megabytes }) => megabytes)) },
      ],
    };
  },
};
