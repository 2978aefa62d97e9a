/**
 * `--workers N`: N processes share the graph's port. The first serves, fills the world and has the control API; it starts the
 * others, starts one anew that died, and ends them with itself. They end when their standard input does, so that none
 * outlives a parent that was killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Config } from "#config/config";
import { type RunningPlaza, startPlaza } from "#main";
import { monotonicMs, sleepMs } from "#system";
import { errorFields, Log } from "#telemetry/log";

/** A worker that dies sooner than this waits before it is started again, so that a lasting cause does not eat the machine. */
const LIVED_MS_MIN = 5_000;
const RESTART_AFTER_MS = 1_000;
/** Workers let running calls end for 10 s at most. */
const STOPPED_WITHIN_MS = 11_000;
const READY = "ready";

export async function startWithWorkers(config: Config, log: Log): Promise<RunningPlaza> {
  const first = await startPlaza(config, log, { isPortShared: true, isFirst: true });
  const workers = new Workers({ ...config, port: Number(new URL(first.ready.base_url).port) }, log);
  try {
    await workers.start(config.workers - 1);
  } catch (error) {
    await Promise.all([workers.stop(), first.stop()]);
    throw error;
  }
  return {
    ...first,
    stop: async () => {
      await Promise.all([workers.stop(), first.stop()]);
    },
  };
}

class Workers {
  readonly #config: Config;
  readonly #log: Log;
  readonly #running = new Set<ChildProcess>();
  #isStopping = false;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#startOne()));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = [...this.#running].map((worker) => new Promise<void>((resolve) => worker.once("exit", () => resolve())));
    for (const worker of this.#running) worker.stdin?.end();
    await Promise.race([Promise.all(ended), sleepMs(STOPPED_WITHIN_MS)]);
    for (const worker of this.#running) worker.kill("SIGKILL");
  }

  /** Resolves when it serves; rejects when it ends before. */
  #startOne(): Promise<void> {
    const started = monotonicMs();
    const worker = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, "worker"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#running.add(worker);
    // Not in the arguments, which everybody on the machine can read: it holds keys and the database's password.
    worker.stdin?.write(
      `${JSON.stringify(this.#config, (_, value) => (value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value))}\n`,
    );
    worker.stdin?.on("error", () => {});
    return new Promise((resolve, reject) => {
      let isReady = false;
      createInterface({ input: worker.stdout as NodeJS.ReadableStream }).on("line", (line) => {
        if (line !== READY) return;
        isReady = true;
        resolve();
      });
      worker.on("error", reject);
      worker.on("exit", (code, signal) => {
        this.#running.delete(worker);
        if (!isReady) reject(new Error(`a worker ended before it was ready, with ${signal ?? `exit code ${code}`}`));
        else if (!this.#isStopping) void this.#replace(worker.pid, signal ?? code, monotonicMs() - started);
      });
    });
  }

  async #replace(pid: number | undefined, ending: unknown, livedMs: number): Promise<void> {
    this.#log.error({ worker: pid, ending }, "a worker ended and is started again");
    for (let wait = livedMs < LIVED_MS_MIN; !this.#isStopping; wait = true) {
      if (wait) await sleepMs(RESTART_AFTER_MS);
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

/** `plaza worker`, which only the first process starts: the config comes as one line on standard input. */
export async function work(): Promise<number> {
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<void>((resolve) => lines.once("close", resolve));
  const text = await new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    void ended.then(() => resolve(undefined));
  });
  if (text === undefined) return 0;
  const config = JSON.parse(text, (_, value) =>
    typeof value?.bytes === "string" ? new Uint8Array(Buffer.from(value.bytes, "base64")) : value,
  ) as Config;
  const log = new Log({ level: config.log_level, isPretty: config.pretty });
  try {
    const plaza = await startPlaza(config, log, { isPortShared: true, isFirst: false });
    process.stdout.write(`${READY}\n`);
    // A terminal sends its signals to the whole group: the first process decides, by closing the input.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
    await ended;
    await plaza.stop();
    await log.flush();
    return process.exit(0);
  } catch (error) {
    log.error(errorFields(error), "the worker failed");
    await log.flush();
    return process.exit(1);
  }
}
