/** A whole server in the test's own process, on free ports, as `plaza start` composes it. */
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { afterThisTest } from "#harness/cleanup";
import type { DatabaseKind } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type RunningPlaza, startPlaza } from "#main";
import { Log } from "#telemetry/log";

export interface OwnServer {
  readonly plaza: RunningPlaza;
  /** Also done after the test. */
  stop(): Promise<void>;
  readonly baseUrl: string;
  /** With the control key. `path` is below `/v1`. */
  control(method: string, path: string, body?: unknown): Promise<ControlResponse>;
}

interface ControlResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
  readonly body: any;
}

/** `:memory:`, or a new database of PostgreSQL. */
export const newData = async (kind: DatabaseKind): Promise<string> => (kind === "sqlite" ? ":memory:" : (await sharedPostgres()).newDatabase());

/** `options` are those of `plaza start`, with their names in the config file. The first world is empty unless they say otherwise. */
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

/** The server does this once a minute. The call comes when no world has work under way, because a busy world stays open. */
export async function restUnused({ plaza: { worlds } }: OwnServer): Promise<void> {
  for (const world of worlds.open()) while (world !== worlds.default && world.work.rest === undefined) await Bun.sleep(1);
  await worlds.closeUnused();
}
