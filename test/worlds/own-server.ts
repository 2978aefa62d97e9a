/** Starts a whole server in the test's own process, on free ports, with the same components as `plaza start`. */
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { afterThisTest } from "#harness/cleanup";
import type { DatabaseKind } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type RunningPlaza, startPlaza } from "#main";
import { Log } from "#telemetry/log";

export interface OwnServer {
  readonly plaza: RunningPlaza;
  /** Stops the server. The server is also stopped when the test ends. */
  stop(): Promise<void>;
  readonly baseUrl: string;
  /** Sends a request with the control key. `path` is the part of the URL after `/v1`. */
  control(method: string, path: string, body?: unknown): Promise<ControlResponse>;
}

interface ControlResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
  readonly body: any;
}

/** The data for a server: `:memory:`, or the address of a new PostgreSQL database. */
export const newData = async (kind: DatabaseKind): Promise<string> => (kind === "sqlite" ? ":memory:" : (await sharedPostgres()).newDatabase());

/** Starts a server. `options` are those of `plaza start`, with their names in the config file. By default, the first world is empty. */
export async function startOwnServer(options: Record<string, unknown>): Promise<OwnServer> {
  const flags = { port: "0", control_port: "0", rtmp_port: "off", json: true, quiet: true, log_level: "error", ...options };
  const plaza = await startPlaza(readConfig(flags, {}, undefined, settings), new Log({ level: "error", isPretty: false }));
  let hasStopped = false;
  const stop = async (): Promise<void> => {
    if (hasStopped) return;
    hasStopped = true;
    await plaza.stop();
  };
  afterThisTest(stop);
  const { base_url, control_url, control_key } = plaza.ready;
  return {
    plaza,
    stop,
    baseUrl: base_url,
    async control(method, path, body) {
      const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`${control_url}/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${control_key}` },
        ...(text === undefined ? {} : { body: text }),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

/** Closes unused worlds, as the server does once a minute. Waits until no world has running work, because a busy world stays open. */
export async function closeUnusedWorlds({ plaza: { worlds } }: OwnServer): Promise<void> {
  for (const world of worlds.open()) while (world !== worlds.default && world.work.idle === undefined) await Bun.sleep(1);
  await worlds.closeUnused();
}
