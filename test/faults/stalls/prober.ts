/**
 * A process that sends requests to a server while others load the server: for its health, as another app, and as an encoder. The process also sends
 * the app's requests to a second server, which nobody loads. The parent process of the prober requests the measured times.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface ProberOptions {
  /** The process of the server. */
  readonly pid: number;
  readonly base_url: string;
  readonly control_url: string;
  /** The port for encoders; undefined if the server accepts no encoders. */
  readonly rtmp_port: number | undefined;
  /** The address of a server that nobody loads. */
  readonly idle_base_url: string;
}

/**
 * The duration of each request since the parent last asked, in ms, without the time in which the server's thread had to wait for a processor.
 */
export interface Probed {
  readonly health: readonly number[];
  /** The app's requests that read, and those that write. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly encoder: readonly number[];
  /** The same requests of an app to the server that nobody loads, whose times show the delays of the machine. */
  readonly idle: readonly number[];
  readonly refused: readonly string[];
}

const PAUSE_MS = 4;
const HANDSHAKE_BYTES = 1_537;

const options = JSON.parse(process.argv[2] ?? "{}") as ProberOptions;
const seen = {
  health: [] as number[],
  reads: [] as number[],
  writes: [] as number[],
  encoder: [] as number[],
  idle: [] as number[],
  refused: [] as string[],
};

/** Sends a request. Resolves with a problem; undefined if there is none. */
type Ask = () => Promise<string | undefined>;
/** Sends request number `n` of the sequence, and chooses the list to which its duration is added. */
type Next = (n: number) => { times: number[]; ask: Ask };

async function statusOf(url: string, init: RequestInit = {}): Promise<string | undefined> {
  const response = await fetch(url, init);
  const text = await response.text();
  return response.status === 200 ? undefined : `${url} ${response.status} ${text.slice(0, 200)}`;
}

const authorization = { authorization: "Bearer other" };
const event = JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "other", custom_events: [{ _eventName: "share", event_id: "one" }] });
const readsOf = (baseUrl: string): readonly Ask[] => [
  () => statusOf(`${baseUrl}/v25.0/2002?fields=id,name`, { headers: authorization }),
  () => statusOf(`${baseUrl}/v25.0/2002/personas?access_token=other&oauth_token=other`, { headers: authorization }),
];
const writeOf = (baseUrl: string): Ask => {
  const headers = { authorization: "Bearer 1002|0ther", "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
  return () => statusOf(`${baseUrl}/v25.0/1002/activities`, { method: "POST", headers, body: event });
};
/** The app's requests in turn: two reads, then one write. */
const appAt = (baseUrl: string, reads: number[], writes: number[]): Next => {
  const [write, asks] = [writeOf(baseUrl), readsOf(baseUrl)];
  return (n) => (n % 3 === 2 ? { times: writes, ask: write } : { times: reads, ask: asks[n % 3] as Ask });
};

function handshake(): Promise<string | undefined> {
  return new Promise((resolve) => {
    let received = 0;
    Bun.connect({
      hostname: "127.0.0.1",
      port: options.rtmp_port ?? 0,
      socket: {
        open: (socket) => void socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(HANDSHAKE_BYTES - 1)])),
        data(socket, bytes) {
          received += bytes.length;
          if (received < HANDSHAKE_BYTES) return;
          resolve(undefined);
          socket.end();
        },
        close: () => resolve(received < HANDSHAKE_BYTES ? "the encoder's connection was closed" : undefined),
        connectError: (_, error) => resolve(String(error)),
      },
    }).catch((error) => resolve(String(error)));
  });
}

/**
 * The time for which each thread of the server was ready to run and had no processor, since the thread started. The second number in the file
 * `schedstat` is a time in nanoseconds.
 */
function waitedByThread(): Map<string, number> {
  const tasks = `/proc/${options.pid}/task`;
  const waitedMs = (thread: string): number => {
    try {
      return Number(readFileSync(`${tasks}/${thread}/schedstat`, "latin1").split(" ")[1]) / 1e6;
    } catch {
      // The thread has ended meanwhile.
      return 0;
    }
  };
  return new Map(readdirSync(tasks).map((thread) => [thread, waitedMs(thread)]));
}

/**
 * Returns how long the machine kept the server waiting since `before`. The server's first thread may itself wait for a thread that collects garbage.
 */
function waitedMs(before: ReadonlyMap<string, number>): number {
  let [first, others] = [0, 0];
  for (const [thread, ms] of waitedByThread()) {
    const waited = ms - (before.get(thread) ?? 0);
    if (thread === String(options.pid)) first = waited;
    else others = Math.max(others, waited);
  }
  return first + others;
}

async function again(next: Next): Promise<void> {
  for (let n = 0; ; n++) {
    const { times, ask } = next(n);
    const before = waitedByThread();
    const beganMs = performance.now();
    const refused = await ask().catch((error) => String(error));
    const tookMs = performance.now() - beganMs;
    times.push(Math.max(0, tookMs - waitedMs(before)));
    if (refused !== undefined) seen.refused.push(refused);
    await Bun.sleep(PAUSE_MS);
  }
}

void again(() => ({ times: seen.health, ask: () => statusOf(`${options.control_url}/healthz`) }));
void again(appAt(options.base_url, seen.reads, seen.writes));
void again(appAt(options.idle_base_url, seen.idle, seen.idle));
if (options.rtmp_port !== undefined) void again(() => ({ times: seen.encoder, ask: handshake }));

process.on("message", () => {
  const { health, reads, writes, encoder, idle, refused } = seen;
  process.send?.({
    health: health.splice(0),
    reads: reads.splice(0),
    writes: writes.splice(0),
    encoder: encoder.splice(0),
    idle: idle.splice(0),
    refused: refused.splice(0),
  });
});
process.on("disconnect", () => process.exit(0));
