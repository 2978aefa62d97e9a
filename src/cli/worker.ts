/** `plaza worker`: one of several processes that share the port of the graph. Only the first process starts workers (`workers.ts`). */
import type { Config } from "#config/config";
import { type TestEvent, testEventsOf } from "#features/app-events";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { RequestEntry, RequestLog } from "#graph/worlds/request-log";
import type { TakenNames } from "#graph/worlds/unserved";
import { type RunningPlaza, startPlaza } from "#main";
import { sleepMs } from "#system";
import { errorFields, Log, outliveStrayFailures } from "#telemetry/log";
import type { MetricsReport } from "#telemetry/metrics-report";
import { belongsToServer } from "./processes/child-processes.ts";
import { FAILED } from "./terminal/output.ts";

export const STOP = { kind: "stop" } as const;
/** The message with which the first process asks a worker for all its metrics. */
export const REPORT = { kind: "report" } as const;

export type WorkerMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "metrics"; readonly metrics: MetricsReport }
  | {
      readonly kind: "served";
      readonly metrics: ServedMetrics;
      readonly worlds: readonly SeenInWorld[];
    };

/** The metrics that a worker sends regularly. The metrics of callbacks are only sent on request, because there may be many callbacks. */
export type ServedMetrics = Omit<MetricsReport, "webhooks" | "processes">;

/** The requests and events of a world that a worker has served since its last report. */
interface SeenInWorld {
  readonly world: string;
  readonly requests: readonly RequestEntry[];
  readonly unserved: TakenNames | undefined;
  readonly appEvents: readonly (readonly TestEvent[])[];
}

interface SealedConfig {
  readonly kind: "config";
  readonly config: Config;
  /** The key that seals secrets, in base64, because only text can be sent through the channel between the processes. */
  readonly secretKey: string | undefined;
  readonly furtherSecretKeys: readonly string[];
}

export const sealedConfig = (config: Config): SealedConfig => ({
  kind: "config",
  config: { ...config, secret_key: undefined, further_secret_keys: [] },
  secretKey: config.secret_key === undefined ? undefined : textOf(config.secret_key),
  furtherSecretKeys: config.further_secret_keys.map(textOf),
});

const openConfig = ({ config, secretKey, furtherSecretKeys }: SealedConfig): Config => ({
  ...config,
  secret_key: secretKey === undefined ? undefined : bytesOf(secretKey),
  further_secret_keys: furtherSecretKeys.map(bytesOf),
});

const textOf = (key: Uint8Array): string => Buffer.from(key).toString("base64");
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/**
 * The interval of reports. After a worker has served a request, it takes at most this time until the control API shows the request. Ten reports
 * a second have no measurable cost.
 */
const REPORT_EVERY_MS = 100;

export async function work(): Promise<number> {
  if (!belongsToServer("worker", "`plaza start --workers N`")) return FAILED;
  const stopped = messageOf("stop");
  const config = openConfig((await messageOf("config")) as unknown as SealedConfig);
  const log = new Log({ level: config.log_level, isPretty: config.pretty });
  outliveStrayFailures(log);
  try {
    const plaza = await startPlaza(config, log, { part: "graph" });
    process.on("message", ({ kind }: { kind: string }) => {
      if (kind === REPORT.kind) send({ kind: "metrics", metrics: plaza.readMetrics() });
    });
    send({ kind: "ready" });
    const report = reporter(plaza);
    let isStopping = false;
    void stopped.then(() => {
      isStopping = true;
    });
    while (!isStopping) {
      await Promise.race([sleepMs(REPORT_EVERY_MS), stopped]);
      report();
    }
    await plaza.stop();
    await log.flush();
    return process.exit(0);
  } catch (error) {
    log.error(errorFields(error), "the worker could not run");
    await log.flush();
    return process.exit(FAILED);
  }
}

const messageOf = (kind: string): Promise<{ kind: string }> =>
  new Promise((resolve) => {
    process.on("message", (message: { kind: string }) => {
      if (message.kind === kind) resolve(message);
    });
  });

const send = (message: WorkerMessage): void => void process.send?.(message);

/** Returns a function that sends a report if there were requests or changed database problems since the last report. */
function reporter({ worlds, readMetrics }: RunningPlaza): () => void {
  let reportedCount = "0 0 ";
  /**
   * For each world's request log, the number of requests that the worker has reported so far. The request log of a world still
   * exists while the world is idle.
   */
  const reported = new WeakMap<RequestLog, number>();
  const newOf = (world: OpenWorld): SeenInWorld => {
    const requests = world.requests.from(reported.get(world.requests) ?? 0);
    reported.set(world.requests, world.requests.count);
    return { world: world.name, requests, unserved: world.unserved?.take(), appEvents: testEventsOf(world).takeNew() };
  };
  return () => {
    const { webhooks: _, processes: __, ...report } = readMetrics();
    const requestCount = Object.values(report.operations).reduce((sum, { requests }) => sum + requests, 0);
    const { problems, failures } = report.database;
    const count = `${requestCount} ${problems.length} ${Object.values(failures).join()}`;
    if (count === reportedCount) return;
    reportedCount = count;
    const seen = [...worlds.open()].map(newOf).filter(({ requests, unserved }) => requests.length > 0 || unserved?.entries.length);
    send({ kind: "served", metrics: report, worlds: seen });
  };
}
