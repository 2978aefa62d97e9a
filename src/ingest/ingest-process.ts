/**
 * Runs the ingest process, which receives the streams of encoders. The server starts the ingest process when the server is ready, restarts the ingest
 * process if it dies, and ends the ingest process when the server ends. The ingest process is a child process, and asks the server about keys and
 * feeds through the channel between parent and child.
 */
import type { ChildProcess } from "node:child_process";
import { startChild } from "#jobs/child-process";
import { within } from "#kernel/turns";
import { monotonicMs, sleepMs } from "#system";
import type { Admission, ConnectionCounts, IngestConfig, ToIngest, ToServer } from "./channel.ts";
import type { WorldFeeds } from "./world-feeds.ts";

/** The methods of the server that answer the ingest process. */
type FeedRegistry = Pick<WorldFeeds, "check" | "start" | "end" | "refused" | "report" | "lost">;

export interface IngestObserver {
  /** Called if the ingest process ended although the server did not end it. The server starts the process again after this call. */
  died(ending: string): void;
  failed(error: unknown): void;
  /** Called once a second with the numbers of connections. */
  counted(connections: ConnectionCounts): void;
}

export interface IngestProcess {
  /** Resolves when the ingest process listens for encoders for the first time. */
  readonly listening: Promise<void>;
  /** Starts the process after `START_AFTER_MS`. `registry` answers the messages of the process. */
  serve(registry: FeedRegistry): void;
  /** Ends the process. Resolves when the process has finished its recordings and ended. */
  stop(): Promise<void>;
}

/**
 * The time for which the server waits before it starts the ingest process. Starting a process blocks the server for 6 to 21 ms (measured), so the
 * server handles its first requests before it starts the process.
 */
const START_AFTER_MS = 50;
/**
 * If an ingest process lived for less than this time, the next process starts after a pause, so that a permanent failure does not keep the machine
 * busy.
 */
const LIVED_MS_MIN = 5_000;
const RESTART_AFTER_MS = 1_000;
/**
 * The time in which the ingest process must end after the server has told it to end. Writing the last segments takes less than a second, unless the
 * disk is stuck.
 */
const STOPPED_WITHIN_MS = 5_000;

/** Starts the ingest process when it is needed. `program` is a script that the child process runs instead of Plaza's own program. */
export const startIngest = (config: IngestConfig, observer: IngestObserver, program?: string): IngestProcess =>
  new Supervisor(config, observer, program);

class Supervisor implements IngestProcess {
  readonly #config: IngestConfig;
  readonly #observer: IngestObserver;
  readonly #listened = Promise.withResolvers<void>();
  readonly listening = this.#listened.promise;
  readonly #program: string | undefined;
  #child: ChildProcess | undefined;
  #registry: FeedRegistry | undefined;
  #isStopping = false;
  #isListening = false;

  constructor(config: IngestConfig, observer: IngestObserver, program: string | undefined) {
    this.#config = config;
    this.#observer = observer;
    this.#program = program;
  }

  serve(registry: FeedRegistry): void {
    this.#registry = registry;
    void this.#startUntilItListens(START_AFTER_MS);
  }

  /** Starts the process. Resolves when the ingest process listens for encoders. */
  #start(): Promise<void> {
    const startedMs = monotonicMs();
    const child = startChild("ingest", this.#program);
    this.#child = child;
    // The configuration is sent as a message, because everybody on the machine can read the arguments of a process.
    this.#send({ kind: "config", config: this.#config });
    return new Promise((resolve, reject) => {
      this.#isListening = false;
      child.on("message", (message: ToServer) => {
        if (message.kind === "listening") {
          this.#isListening = true;
          this.#listened.resolve();
          resolve();
        } else if (message.kind === "failed") reject(new Error(message.message));
        else this.#take(message).catch((error: unknown) => this.#observer.failed(error));
      });
      child.on("error", reject);
      child.on("exit", (code, signal) => {
        const ending = signal ?? `exit code ${code}`;
        if (!this.#isListening) reject(new Error(`the ingest process ended before it was ready, with ${ending}`));
        else if (!this.#isStopping) {
          this.#observer.died(ending);
          void this.#startUntilItListens(monotonicMs() - startedMs < LIVED_MS_MIN ? RESTART_AFTER_MS : 0);
        }
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    // A process that does not listen yet is killed at once, because it has no recordings to finish.
    if (this.#isListening) {
      this.#send({ kind: "stop" });
      await within(ended, STOPPED_WITHIN_MS);
    }
    child.kill("SIGKILL");
  }

  async #take(message: Exclude<ToServer, { kind: "listening" | "failed" }>): Promise<void> {
    const registry = this.#registry;
    switch (message.kind) {
      case "check":
        return this.#reply(message.id, await registry?.check(message.key));
      case "start":
        return this.#reply(message.id, await registry?.start(message.key, message));
      case "end":
        return registry?.end(message.feed, message.ending);
      case "refused":
        return registry?.refused(message.video, message.reason);
      case "report": {
        this.#observer.counted(message.connections);
        const feeds = (await registry?.report(message.feeds)) ?? [];
        if (feeds.length > 0) this.#send({ kind: "drop", feeds });
      }
    }
  }

  #reply(id: number, admission: Admission | undefined): void {
    this.#send({ kind: "reply", id, feed: admission?.feed });
  }

  #send(message: ToIngest): void {
    const child = this.#child;
    // The error is ignored, because a process that has just died does not need the message.
    if (child?.connected === true) child.send(message, () => {});
  }

  async #startUntilItListens(firstAfterMs: number): Promise<void> {
    for (let waitMs = firstAfterMs; !this.#isStopping; waitMs = RESTART_AFTER_MS) {
      try {
        // When a process dies, its feeds end, too.
        await this.#registry?.lost();
        if (waitMs > 0) await sleepMs(waitMs);
        if (!this.#isStopping) await this.#start();
        return;
      } catch (error) {
        this.#observer.failed(error);
      }
    }
  }
}
