/** The server that histories are played against: one process or two, each world of a history with a name of its own. */
import { type Server, startServer } from "#harness/server";
import type { Surface } from "../reference/requests.ts";

const MOUNTS: Readonly<Record<Surface, string>> = { base: "", app: "/app", microblog: "/microblog/v1.0", ads: "/ads", social_login: "/social-login" };

/** Other processes see a changed fact within a second; until then what is asked of a world goes to the process that changed it. */
const SEEN_WITHIN_MS = 1_000;

/** A smaller part of all requests would not find what one process does not know of the other. */
const SHARE_MIN = 0.25;

/** D-115: encoders can connect, so a broadcast without a feed ends. Nothing ever asks this address. */
const STREAMS = "rtmp://media.invalid/live";

export interface Servers {
  readonly count: 1 | 2;
  /** The world's address on a surface, for the next request: with two processes they take turns. */
  address(world: string, surface: Surface): string;
  /** The last request to the world has changed a cached fact. Until the other process has seen it, it gets no requests. */
  noteFact(world: string): void;
  /** Waits until every process has seen what another one has changed. */
  seeFacts(): Promise<void>;
  /** By the processes in turn, like requests. */
  control(method: string, path: string, body?: unknown): Promise<ControlReply>;
  /** A file, to the control API. */
  upload(path: string, file: string): Promise<ControlReply>;
  /** Ends the process that was asked of the world last, by SIGTERM or SIGKILL, and starts it on the same data. */
  restart(world: string, how: "stop" | "kill"): Promise<void>;
  stop(): Promise<void>;
  /** How many requests each process got, and what is wrong with that. */
  shares(): { readonly text: string; readonly problems: readonly string[] };
}

interface ControlReply {
  readonly status: number;
  readonly body: unknown;
}

async function askControl(server: Server, method: string, path: string, body?: unknown, type = "application/json"): Promise<ControlReply> {
  const response = await fetch(`${server.control_url}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${server.control_key}`, "content-type": type },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** The world that a request of the control API is about: of its path, or the one that it makes. */
const worldOf = (path: string, body?: unknown): string => path.split("/")[1] ?? (body as { name: string }).name;

/** `data`: where `plaza start` keeps it. */
export async function startServers(data: string, count: 1 | 2): Promise<Servers> {
  const start = () => startServer(["--data", data, "--quiet", "--log-level", "error", "--rtmp-url", STREAMS]);
  const running: Server[] = [];
  for (let number = 0; number < count; number++) running.push(await start());
  const turns = new Map<string, { last: number; heldUntilMs: number }>();
  const requests = running.map(() => 0);
  const turnOf = (world: string) => {
    const turn = turns.get(world) ?? { last: 0, heldUntilMs: 0 };
    turns.set(world, turn);
    return turn;
  };
  const nextOf = (world: string): Server => {
    const turn = turnOf(world);
    if (performance.now() > turn.heldUntilMs) turn.last = (turn.last + 1) % running.length;
    return running[turn.last] as Server;
  };
  return {
    count,
    address(world, surface) {
      const server = nextOf(world);
      const place = running.indexOf(server);
      requests[place] = (requests[place] ?? 0) + 1;
      return `${server.base_url}/w/${world}${MOUNTS[surface]}`;
    },
    noteFact(world) {
      turnOf(world).heldUntilMs = performance.now() + SEEN_WITHIN_MS;
    },
    seeFacts: () => Bun.sleep(count === 1 ? 0 : SEEN_WITHIN_MS),
    control: (method, path, body) => askControl(nextOf(worldOf(path, body)), method, path, body),
    upload: (path, file) => askControl(nextOf(worldOf(path)), "POST", path, file, "text/csv"),
    async restart(world, how) {
      const { last } = turnOf(world);
      await (running[last] as Server)[how]();
      running[last] = await start();
    },
    async stop() {
      for (const server of running) await server.stop();
    },
    shares() {
      const all = requests.reduce((sum, some) => sum + some, 0);
      const inWords = requests.map((some, place) => `${some} to process ${place} (${Math.round((100 * some) / Math.max(1, all))} %)`);
      const problems = requests.flatMap((some, place) => (some < all * SHARE_MIN ? [`process ${place} got only ${some} of ${all} requests`] : []));
      return { text: `requests: ${inWords.join(", ")}`, problems };
    },
  };
}
