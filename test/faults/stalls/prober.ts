/**
 * A process that sends requests to a server while others load the server: for its health, as another app, and as an encoder. It also sends requests
 * to a process that does nothing else (`calibration.ts`), which show the delays of the machine. Its parent process asks it for the times.
 */
import { readFileSync } from "node:fs";

export interface ProberOptions {
  /** The process of the server. */
  readonly pid: number;
  readonly base_url: string;
  readonly control_url: string;
  /** The port for encoders; undefined if the server accepts no encoders. */
  readonly rtmp_port: number | undefined;
  readonly calibration_url: string;
}

/**
 * The milliseconds of each request since the parent last asked, without the time in which the server's thread was ready to run and the machine gave it
 * no processor.
 */
export interface Probed {
  readonly health: readonly number[];
  /** The app's requests that read, and those that write. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly encoder: readonly number[];
  /** The delays of the machine: the times of the calibration process, and the delays of this process's timers. */
  readonly calibration: readonly number[];
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
  calibration: [] as number[],
  refused: [] as string[],
};

/** Sends a request. Resolves with a problem; undefined if there is none. */
type Ask = () => Promise<string | undefined>;

async function statusOf(url: string, init: RequestInit = {}): Promise<string | undefined> {
  const response = await fetch(url, init);
  const text = await response.text();
  return response.status === 200 ? undefined : `${url} ${response.status} ${text.slice(0, 200)}`;
}

const authorization = { authorization: "Bearer other" };
const event = JSON.stringify({ event: "CUSTOM_APP_EVENTS", advertiser_id: "other", custom_events: [{ _eventName: "share", event_id: "one" }] });
const asks: readonly Ask[] = [
  () => statusOf(`${options.base_url}/v25.0/2002?fields=id,name`, { headers: authorization }),
  () => statusOf(`${options.base_url}/v25.0/2002/personas?access_token=other&oauth_token=other`, { headers: authorization }),
];
const write: Ask = () =>
  statusOf(`${options.base_url}/v25.0/1002/activities`, {
    method: "POST",
    headers: { authorization: "Bearer 1002|0ther", "content-type": "application/json", "x-forwarded-for": "203.0.113.7" },
    body: event,
  });

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

/** How long the server's thread was ready to run and had no processor, since it started. The second number of the file has nanoseconds. */
const waitedMs = (): number => Number(readFileSync(`/proc/${options.pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;

async function again(next: (n: number) => { times: number[]; ask: Ask }): Promise<void> {
  for (let n = 0; ; n++) {
    const { times, ask } = next(n);
    const [beganMs, waitedBeforeMs] = [performance.now(), waitedMs()];
    const refused = await ask().catch((error) => String(error));
    times.push(Math.max(0, performance.now() - beganMs - (waitedMs() - waitedBeforeMs)));
    if (refused !== undefined) seen.refused.push(refused);
    await Bun.sleep(PAUSE_MS);
  }
}

void again(() => ({ times: seen.health, ask: () => statusOf(`${options.control_url}/healthz`) }));
void again((n) => (n % 3 === 2 ? { times: seen.writes, ask: write } : { times: seen.reads, ask: asks[n % 3] as Ask }));
void again(() => ({ times: seen.calibration, ask: () => statusOf(options.calibration_url) }));
if (options.rtmp_port !== undefined) void again(() => ({ times: seen.encoder, ask: handshake }));

process.on("message", () => {
  const { health, reads, writes, encoder, calibration, refused } = seen;
  process.send?.({
    health: health.splice(0),
    reads: reads.splice(0),
    writes: writes.splice(0),
    encoder: encoder.splice(0),
    calibration: calibration.splice(0),
    refused: refused.splice(0),
  });
});
process.on("disconnect", () => process.exit(0));
