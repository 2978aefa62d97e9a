/**
 * The process that takes the streams of encoders, beside the one that serves requests. The server starts it, starts it again when it
 * dies, and ends it with itself. What it may do it asks the server, over the channel between parent and child.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { monotonicMs, sleepMs } from "#system";
import type { Admission, FeedEnding, FeedHealth, FeedName, IngestConfig, ToIngest, ToServer } from "./channel.ts";

/** Where the single executable keeps the program; it starts itself without naming it. */
const INSIDE_EXECUTABLE = "/$bunfs/";

/** The server, as the ingest process asks it. */
interface FeedRegistry {
  /** Whether an encoder may publish with the key; nothing changes. */
  check(key: string): Promise<Admission | undefined>;
  start(key: string, size: { readonly width: number; readonly height: number }): Promise<Admission | undefined>;
  end(feed: FeedName, ending: FeedEnding): Promise<void>;
  /** Returns the feeds that may not go on. */
  report(feeds: readonly FeedHealth[]): Promise<readonly FeedName[]>;
  /** The process has died, and all its feeds with it. */
  lost(): Promise<void>;
}

export interface IngestObserver {
  /** It ended by itself and is started again. */
  died(ending: string): void;
  failed(error: unknown): void;
}

export interface IngestProcess {
  /** The ports, once they are listened on; rejects where they cannot be. */
  listening(): Promise<ListeningPorts>;
  /** From now on streams are taken: before, no key opens anything. */
  serve(registry: FeedRegistry): void;
  /** Recordings become whole; resolves when the process has ended. */
  stop(): Promise<void>;
}

interface ListeningPorts {
  readonly port: number;
  /** Of RTMPS. */
  readonly securePort: number | undefined;
}

/** A process that lived for less time is started again after a pause, so that a permanent failure does not occupy the machine. */
const LIVED_MS_MIN = 5_000;
const RESTART_AFTER_MS = 1_000;
/** The last segments are small; a disk that takes longer is stuck. */
const STOPPED_WITHIN_MS = 5_000;

export const startIngest = (config: IngestConfig, observer: IngestObserver): IngestProcess => new Supervisor(config, observer);

/** As the system reports it: a code tells what to change. */
class ListenFailed extends Error {
  readonly code: string | undefined;
  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

class Supervisor implements IngestProcess {
  #config: IngestConfig;
  readonly #observer: IngestObserver;
  #child: ChildProcess | undefined;
  #registry: FeedRegistry | undefined;
  #isStopping = false;

  readonly #started: Promise<void>;
  #isListening = false;

  constructor(config: IngestConfig, observer: IngestObserver) {
    this.#config = config;
    this.#observer = observer;
    this.#started = this.#start();
    // The server may have failed before it asks.
    this.#started.catch(() => {});
  }

  async listening(): Promise<ListeningPorts> {
    await this.#started;
    return { port: this.#config.port, securePort: this.#config.secure?.port };
  }

  serve(registry: FeedRegistry): void {
    this.#registry = registry;
  }

  /** Resolves when the process listens. */
  #start(): Promise<void> {
    const startedMs = monotonicMs();
    const program = process.argv[1] as string;
    const child = spawn(process.execPath, program.startsWith(INSIDE_EXECUTABLE) ? ["ingest"] : [...process.execArgv, program, "ingest"], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    // Over the channel, because everybody on the machine can read arguments.
    this.#send({ kind: "config", config: this.#config });
    return new Promise((resolve, reject) => {
      this.#isListening = false;
      child.on("message", (message: ToServer) => {
        if (message.kind === "listening") {
          this.#isListening = true;
          // Started again, it listens where encoders know it.
          const { secure } = this.#config;
          const { port, secure_port = 0 } = message;
          this.#config = { ...this.#config, port, isPortChoice: false, secure: secure && { ...secure, port: secure_port, isPortChoice: false } };
          resolve();
        } else if (message.kind === "failed") reject(new ListenFailed(message.message, message.code));
        else this.#take(message).catch((error: unknown) => this.#observer.failed(error));
      });
      child.on("error", reject);
      child.on("exit", (code, signal) => {
        const ending = signal ?? `exit code ${code}`;
        if (!this.#isListening) reject(new Error(`the ingest process ended before it was ready, with ${ending}`));
        else if (!this.#isStopping) void this.#replace(ending, monotonicMs() - startedMs);
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    // Before it listens it has nothing to end.
    if (this.#isListening) {
      this.#send({ kind: "stop" });
      await Promise.race([ended, sleepMs(STOPPED_WITHIN_MS)]);
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
      case "report": {
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
    // A process that has just died receives nothing.
    if (child?.connected === true) child.send(message, () => {});
  }

  async #replace(ending: string, livedMs: number): Promise<void> {
    this.#observer.died(ending);
    for (let waits = livedMs < LIVED_MS_MIN; !this.#isStopping; waits = true) {
      try {
        await this.#registry?.lost();
        if (waits) await sleepMs(RESTART_AFTER_MS);
        if (this.#isStopping) return;
        await this.#start();
        return;
      } catch (error) {
        this.#observer.failed(error);
      }
    }
  }
}
