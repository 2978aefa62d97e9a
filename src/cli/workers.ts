/**
 * Implements the option `--workers N`: N processes share the port of the graph. The first process serves only the control API, loads the world,
 * starts the workers, replaces a worker that dies, and ends the workers when it ends. Workers report the requests that they served, so that the
 * control API shows the requests and metrics of all processes. A worker ends when its channel to the first process closes.
 */
import cluster, { type Worker } from "node:cluster";
import type { Config } from "#config/config";
import { listening } from "#config/listening";
import { testEventsOf } from "#features/app-events";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import { reservePort } from "#http/listeners/listener";
import { isExecutable } from "#jobs/child-process";
import { within } from "#kernel/turns";
import { type RunningPlaza, startPlaza } from "#main";
import { monotonicMs, sleepMs } from "#system";
import { errorFields, type Log } from "#telemetry/log";
import { merged } from "#telemetry/merged-metrics";
import type { MetricsReport } from "#telemetry/metrics-report";
import { REPORT, type ServedMetrics, STOP, sealedConfig, type WorkerMessage } from "./worker.ts";

/** If a worker lived for less than this time, its replacement starts after a pause, so that a permanent failure does not use the whole CPU. */
const LIVED_MS_MIN = 5_000;
const RESTART_AFTER_MS = 1_000;
/** The time limit for the end of a worker. After the drain, workers give running requests 10 s to end. */
const STOPPED_WITHIN_MS = 11_000;
/** The longest wait for the metrics of workers, so that the metrics of the others are shown even if one worker does not respond. */
const METRICS_WITHIN_MS = 500;

export async function startWithWorkers(asked: Config, log: Log): Promise<RunningPlaza> {
  const reserved = await listening("--port", asked.host, asked.port, () => reservePort(asked.host, asked.port));
  const config = { ...asked, port: reserved.port };
  const workers = new Workers(log);
  let first: RunningPlaza | undefined;
  try {
    const started = await startPlaza(config, log, {
      part: "control",
      readMetrics: async () => merged([started.readMetrics(), ...(await workers.readMetrics())]),
    });
    first = started;
    const { worlds } = started;
    workers.onServed = ({ worlds: seen }) => {
      for (const one of seen)
        adopt(worlds, one).catch((error: unknown) => log.warn({ world: one.world, ...errorFields(error) }, "requests of a worker cannot be shown"));
    };
    // Live ingest runs in the first process. The workers tell clients the ports of the first process for live video.
    const { rtmpPort = config.rtmp_port, rtmpsPort = config.rtmps_port } = first.streaming ?? {};
    await workers.start({ ...config, rtmp_port: rtmpPort, rtmps_port: rtmpsPort });
    reserved.release();
  } catch (error) {
    reserved.release();
    await Promise.all([workers.stop(), first?.stop()]);
    throw error;
  }
  const { stop } = first;
  return {
    ...first,
    stop: () => stop(workers.stop()),
  };
}

async function adopt(worlds: Worlds, { world: name, requests, unserved, appEvents }: ServedMessage["worlds"][number]): Promise<void> {
  const held = await worlds.hold(name);
  // The world does not exist any more: it was deleted after the worker served the requests.
  if (held === undefined) return;
  for (const entry of requests) held.world.requests.adopt(entry);
  if (unserved !== undefined) held.world.unserved?.adopt(unserved);
  testEventsOf(held.world).addShown(appEvents);
  held.leave();
}

type ServedMessage = Extract<WorkerMessage, { kind: "served" }>;

class Workers {
  #config: Config | undefined;
  readonly #log: Log;
  readonly #running = new Map<Worker, MetricsReport | undefined>();
  readonly #asked = new Map<Worker, PromiseWithResolvers<void>>();
  /** The metrics of workers that have ended. The metrics of ended workers are still added to the sums, because a counter must never decrease. */
  #ended: MetricsReport | undefined;
  #isStopping = false;
  onServed: (message: ServedMessage) => void = () => {};

  constructor(log: Log) {
    this.#log = log;
    // If Plaza runs as a single executable, it is its own program, so the worker gets only the command as argument. The executable needs no
    // flags for Bun, because they are built into it.
    cluster.setupPrimary(isExecutable ? { exec: "worker", args: [], execArgv: [] } : { exec: process.argv[1] as string, args: ["worker"] });
  }

  async readMetrics(): Promise<MetricsReport[]> {
    const asked = [...this.#running.keys()].filter((worker) => worker.isConnected());
    await within(Promise.all(asked.map((worker) => this.#ask(worker))), METRICS_WITHIN_MS);
    return [...(this.#ended === undefined ? [] : [this.#ended]), ...[...this.#running.values()].filter((report) => report !== undefined)];
  }

  async start(config: Config): Promise<void> {
    this.#config = config;
    await Promise.all(Array.from({ length: config.workers }, () => this.#startOne()));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const workers = [...this.#running.keys()];
    const ended = workers.map((worker) => new Promise<void>((resolve) => worker.once("exit", () => resolve())));
    for (const worker of workers) if (worker.isConnected()) worker.send(STOP);
    await within(Promise.all(ended), (this.#config?.drain_delay_ms ?? 0) + STOPPED_WITHIN_MS);
    for (const worker of this.#running.keys()) worker.process.kill("SIGKILL");
  }

  /** Starts a worker. Resolves when the worker serves; rejects if the worker ends first. */
  #startOne(): Promise<void> {
    const started = monotonicMs();
    const worker = cluster.fork();
    this.#running.set(worker, undefined);
    // The config contains keys and a password, which nobody else may read. The config is sent through the channel, because every user of
    // the machine can read arguments.
    worker.send(sealedConfig(this.#config as Config));
    return new Promise((resolve, reject) => {
      let isReady = false;
      worker.on("message", (message: WorkerMessage) => {
        if (message.kind === "ready") {
          isReady = true;
          resolve();
        } else this.#take(worker, message);
      });
      worker.on("error", reject);
      worker.on("exit", (code, signal) => {
        this.#forget(worker);
        const ending = signal ?? `exit code ${code}`;
        if (!isReady) reject(new Error(`a worker ended before it was ready, with ${ending}`));
        else if (!this.#isStopping) void this.#replace(worker.process.pid, ending, monotonicMs() - started);
      });
    });
  }

  /**
   * Asks a worker for its metrics, and resolves when they have arrived. While a worker's response is still missing, the worker is not asked again.
   */
  #ask(worker: Worker): Promise<void> {
    const asked = this.#asked.get(worker) ?? Promise.withResolvers<void>();
    if (!this.#asked.has(worker)) worker.send(REPORT);
    this.#asked.set(worker, asked);
    return asked.promise;
  }

  #answered(worker: Worker): void {
    this.#asked.get(worker)?.resolve();
    this.#asked.delete(worker);
  }

  #take(worker: Worker, message: Exclude<WorkerMessage, { kind: "ready" }>): void {
    this.#note(worker, message.metrics);
    if (message.kind === "metrics") this.#answered(worker);
    else this.onServed(message);
  }

  #note(worker: Worker, metrics: ServedMetrics & Partial<MetricsReport>): void {
    if (!this.#running.has(worker)) return;
    const { webhooks = [], processes = [] } = this.#running.get(worker) ?? {};
    const named = metrics.processes?.map((one) => ({ ...one, process: `worker ${worker.id}` }));
    this.#running.set(worker, { webhooks, ...metrics, processes: named ?? processes });
  }

  #forget(worker: Worker): void {
    const last = this.#running.get(worker);
    this.#running.delete(worker);
    this.#answered(worker);
    if (last === undefined) return;
    const ended = { ...last, inFlight: 0, waiting: 0, connections: { ...last.connections, open: 0 }, processes: [] };
    this.#ended = this.#ended === undefined ? ended : merged([this.#ended, ended]);
  }

  async #replace(pid: number | undefined, ending: string, livedMs: number): Promise<void> {
    this.#log.error({ worker: pid, ending }, "a worker ended and is restarted");
    for (let waits = livedMs < LIVED_MS_MIN; !this.#isStopping; waits = true) {
      if (waits) await sleepMs(RESTART_AFTER_MS);
      if (this.#isStopping) return;
      try {
        await this.#startOne();
        return;
      } catch (error) {
        this.#log.error(errorFields(error), "a worker could not be started");
      }
    }
  }
}
