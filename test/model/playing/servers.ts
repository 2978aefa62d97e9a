/** The server on which histories are played: one or two processes. Each world of a history has a name of its own. */
import { type Server, startServer } from "#harness/server";
import type { Surface } from "../reference/requests.ts";

const MOUNTS: Readonly<Record<Surface, string>> = { base: "", app: "/app", microblog: "/microblog/v1.0", ads: "/ads", social_login: "/social-login" };

/**
 * The time within which other processes see a changed fact. Until the other processes know a changed fact, requests to the world go to the process
 * that changed it.
 */
const SEEN_WITHIN_MS = 1_000;

/**
 * The least share of the requests that each process must get. With a smaller share, a history would not show that a process does not know what the
 * other process changed.
 */
const SHARE_MIN = 0.25;

/**
 * D-115: the address for encoders that the servers are started with. With this setting, a broadcast ends if it gets no feed for some time. No program
 * sends a request to this address.
 */
const STREAMS = "rtmp://media.invalid/live";

export interface Servers {
  readonly count: 1 | 2;
  /** The URL of the world on an API of the graph, for the next request. The two processes get the requests in turn. */
  address(world: string, surface: Surface): string;
  /**
   * Notes that the last request to the world has changed a cached fact. Until the other process has seen the change of a world, that process gets no
   * requests to the world.
   */
  noteFact(world: string): void;
  /** Waits until every process has seen the changes that the other processes made. */
  seeFacts(): Promise<void>;
  /** Sends a request to the control API of the processes in turn. */
  control(method: string, path: string, body?: unknown): Promise<ControlReply>;
  /** Sends a file to the control API. */
  upload(path: string, file: string): Promise<ControlReply>;
  /** Ends the process that got the last request to the world, by SIGTERM or SIGKILL, and starts it on the same data. */
  restart(world: string, how: "stop" | "kill"): Promise<void>;
  stop(): Promise<void>;
  /** The number of requests that each process got, and the problems with these numbers. */
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

/** The world that a request to the control API concerns: the world in its path, or the world that it creates. */
const worldOf = (path: string, body?: unknown): string => path.split("/")[1] ?? (body as { name: string }).name;

/** Starts the processes. `data` is the value of the option `--data`. */
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
