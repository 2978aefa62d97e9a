/** A server that accepts streams, with a page that broadcasts. */
import { authority } from "../certificates.ts";
import { childrenOf } from "../processes/children.ts";
import { type Server, startServer, worldFile } from "../server.ts";

const scopes = ["pages_manage_posts", "pages_read_engagement"];
const TOKEN = "author";

export const liveWorld = {
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe" }],
  tokens: [{ token: TOKEN, type: "page", app: "1001", page: "2001", scopes }],
};

export interface Video {
  readonly id: string;
  readonly stream_key: string;
  readonly stream_url: string;
  readonly secure_stream_url?: string;
}

export class LiveServer {
  readonly server: Server;
  constructor(server: Server) {
    this.server = server;
  }

  /** Sends a request as a page does. `path` is the part of the path after the version. A request that has a body is sent as a POST. */
  async graph(path: string, body?: Record<string, unknown>): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${this.server.base_url}/v26.0/${path}`, { ...init, tls: { ca: authority } });
    return (await response.json()) as Record<string, unknown>;
  }

  async create(body: Record<string, unknown> = { status: "LIVE_NOW", embeddable: true }): Promise<Video> {
    return (await this.graph("2001/live_videos", body)) as unknown as Video;
  }

  /** Creates a video, and moves the clock until the video is shown. */
  async createShown(): Promise<Video> {
    const video = await this.create();
    await this.control("POST", "clock/advance", { seconds: 5 });
    return video;
  }

  async remove(id: string): Promise<void> {
    await fetch(`${this.server.base_url}/v26.0/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${TOKEN}` }, tls: { ca: authority } });
  }

  async control(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { control_url, control_key } = this.server;
    const headers = { authorization: `Bearer ${control_key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${control_url}/v1/worlds/default/${path}`, { method, headers, ...sent, tls: { ca: authority } });
    return (await response.json()) as Record<string, unknown>;
  }

  async state(id: string): Promise<LiveState> {
    return (await this.control("GET", `live-videos/${id}/ingest`)) as unknown as LiveState;
  }

  /** The promise resolves with the first state of the video that fits. If no state fits, the time limit of the test ends the waiting. */
  async stateWhen(id: string, fits: (state: LiveState) => boolean): Promise<LiveState> {
    for (;;) {
      const state = await this.state(id);
      if (fits(state)) return state;
      await Bun.sleep(20);
    }
  }
}

export interface LiveState {
  readonly state: string;
  readonly status: string;
  readonly feed: { readonly is_sending: boolean; readonly session: number };
  readonly test_encoder: boolean;
  readonly next: { readonly event: string; readonly time: number } | null;
  readonly end_reason?: string;
  readonly health?: {
    readonly bits_per_second: number;
    readonly audio_bits_per_second: number;
    readonly key_frame_ms: number | null;
    readonly clock_steps: number;
    readonly warnings: readonly string[];
  };
}

/** Starts a server that accepts streams. The server loads the world file if the folder `data` does not exist yet. */
export async function openLiveServer(data: string, options: readonly string[] = []): Promise<LiveServer> {
  const { existsSync } = await import("node:fs");
  const world = existsSync(data) ? [] : ["--world", worldFile(liveWorld)];
  const liveServer = new LiveServer(await startServer(["--data", data, "--rtmp-port", "0", ...world, ...options]));
  const { rtmp_url } = liveServer.server;
  // The test does not wait for a media server on another machine.
  if (rtmp_url?.includes("127.0.0.1") === true) await untilListening(Number(new URL(rtmp_url.replace("rtmp:", "http:")).port));
  return liveServer;
}

/** The process that receives the streams, which is the only child process of the server. */
export function ingestOf({ server }: LiveServer): number {
  const [child, ...others] = childrenOf(server.pid);
  if (child === undefined || others.length > 0) throw new Error(`the server has ${others.length + 1} children instead of one`);
  return child;
}

/** Waits until the ingest process listens, because it starts at the same time as the server. */
async function untilListening(port: number): Promise<void> {
  for (;;) {
    try {
      (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } })).end();
      return;
    } catch {
      await Bun.sleep(10);
    }
  }
}
