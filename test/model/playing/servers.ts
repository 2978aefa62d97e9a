/** The server that histories are played against: one process or two, each world of a history with a name of its own. */
import { type Server, startServer } from "#harness/server";
import type { Surface } from "../reference/requests.ts";

const MOUNTS: Readonly<Record<Surface, string>> = { base: "", app: "/app", microblog: "/microblog/v1.0", ads: "/ads", social_login: "/social-login" };

/** Other processes see a changed fact within a second; until then a world's requests go to the process that changed it. */
const SEEN_WITHIN_MS = 1_000;

/** D-115: encoders can connect, so a broadcast without a feed ends. Nothing ever asks this address. */
const STREAMS = "rtmp://media.invalid/live";

export interface Servers {
  /** Of the processes, the first serves the control API. */
  readonly count: 1 | 2;
  /** The world's address on a surface, for the next request: with two processes they take turns. */
  address(world: string, surface: Surface): string;
  /** Something of the world was changed, by the last request or, if it was not a request, by the control API. */
  noteChange(world: string, by: "request" | "control"): void;
  /** Waits until the control API's process has seen what another one has changed of the world. */
  beforeControl(world: string): Promise<void>;
  control(method: string, path: string, body?: unknown): Promise<ControlReply>;
  /** A file, to the control API. */
  upload(path: string, file: string): Promise<ControlReply>;
  /** Ends every process, by SIGTERM or SIGKILL, and starts it on the same data. */
  restart(how: "stop" | "kill"): Promise<void>;
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

/** `data`: where `plaza start` keeps it. */
export async function startServers(data: string, count: 1 | 2): Promise<Servers> {
  const start = () => startServer(["--data", data, "--quiet", "--log-level", "error", "--rtmp-url", STREAMS]);
  const running: Server[] = [];
  for (let number = 0; number < count; number++) running.push(await start());
  const turns = new Map<string, { last: number; untilMs: number }>();
  const turnOf = (world: string) => {
    const turn = turns.get(world) ?? { last: 0, untilMs: 0 };
    turns.set(world, turn);
    return turn;
  };
  return {
    count,
    address(world, surface) {
      const turn = turnOf(world);
      if (performance.now() > turn.untilMs) turn.last = (turn.last + 1) % running.length;
      return `${(running[turn.last] as Server).base_url}/w/${world}${MOUNTS[surface]}`;
    },
    noteChange(world, by) {
      const turn = turnOf(world);
      // The control API is the first process's.
      turns.set(world, { last: by === "control" ? 0 : turn.last, untilMs: performance.now() + SEEN_WITHIN_MS });
    },
    async beforeControl(world) {
      const { last, untilMs } = turnOf(world);
      if (last !== 0) await Bun.sleep(Math.max(0, untilMs - performance.now()));
    },
    control: (method, path, body) => askControl(running[0] as Server, method, path, body),
    upload: (path, file) => askControl(running[0] as Server, "POST", path, file, "text/csv"),
    async restart(how) {
      for (const [place, server] of running.entries()) {
        await server[how]();
        running[place] = await start();
      }
    },
  };
}
