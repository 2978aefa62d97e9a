/** The server's side of live video: its ports for encoders, the ingest process, the feeds, and the folder of the recordings. */
import { join } from "node:path";
import type { Config } from "#config/config";
import { addressOf } from "#config/listening";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { Streaming, TestFeed, World } from "#graph/worlds/world";
import type { Tracing } from "#kernel/tracing/tracing";
import { within } from "#kernel/turns";
import { isBucket } from "#recordings/recording-store";
import { makeFolder } from "#storage/synced-folders";
import { makeTemporaryFolder } from "#storage/temporary-folder";
import { monotonicMs } from "#system";
import { errorFields, type Log } from "#telemetry/log";
import type { IngestConfig } from "./channel.ts";
import { findFreePorts } from "./free-ports.ts";
import { type IngestObserver, type IngestProcess, startIngest } from "./ingest-process.ts";
import { WorldFeeds } from "./world-feeds.ts";

/** The usual port of RTMP. RTMPS gets the next port, because HTTPS already uses 443, the usual port of RTMPS. */
const USUAL_PORT = 1935;
const USUAL_SECURE_PORT = 1936;

/** The interval at which the server checks whether media servers have stopped reporting. */
const LOOK_EVERY_MS = 5_000;
/**
 * The time for which requests wait until the ingest process listens. Usually the ingest process starts in a tenth of a second. If the ingest process
 * cannot listen, the server logs the error, and requests wait no longer.
 */
const LISTENING_WITHIN_MS = 5_000;

/**
 * Prepares live video, without starting the ingest process. `isOwner` is true in the process of the server that runs the ingest process; the server's
 * other processes know only the address of the ingest process.
 */
export function openLiveIngest(config: Config, log: Log, isOwner: boolean): LiveIngest {
  const { rtmp_url: rtmpUrl, rtmp_port: port } = config;
  const isTaken = rtmpUrl === undefined && port !== "off";
  const recordings = isTaken || config.data !== ":memory:" ? recordingsOf(config, log) : undefined;
  if (!isTaken || !isOwner || recordings === undefined) return new LiveIngest(config, log, recordings, undefined);
  // The folder of recordings is created now, because the ingest process would fail later if the folder did not exist.
  if (!isBucket(recordings.folder)) makeFolder(recordings.folder);
  return new LiveIngest(config, log, recordings, (ports, counted) =>
    startIngest(
      {
        ...ports,
        hostname: config.host,
        recordings: recordings.folder,
        recordings_bytes_max: config.recordings_bytes_max,
        disk_reserve_bytes: config.disk_reserve_bytes,
        streams_max: config.streams_max,
        stream_bits_max: config.stream_bits_per_second_max,
        log_level: config.log_level,
        pretty: config.pretty,
      },
      {
        died: (ending) => log.error({ ending }, "the ingest process ended and is restarted"),
        failed: (error) => log.error(errorFields(error), "a message of the ingest process could not be handled"),
        counted,
      },
    ),
  );
}

/** Returns the configuration of RTMPS, which Plaza serves only if the server has a certificate. */
function secureOf({ tls_cert: cert, tls_key: key, rtmps_port: port }: Config): IngestConfig["secure"] {
  return cert === undefined || key === undefined || port === "off" ? undefined : { port: port ?? USUAL_SECURE_PORT, cert, key };
}

interface Recordings {
  readonly folder: string;
  /** Removes temporary recordings when the program ends. */
  remove(): void;
}

type MakeProcess = (ports: Pick<IngestConfig, "port" | "secure">, counted: IngestObserver["counted"]) => IngestProcess;

class LiveIngest {
  readonly #config: Config;
  readonly #log: Log;
  readonly #recordings: Recordings | undefined;
  readonly #makeProcess: MakeProcess | undefined;
  #process: IngestProcess | undefined;
  #feeds: WorldFeeds | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;

  /** `makeProcess` is undefined if this process of the server does not run the ingest process. */
  constructor(config: Config, log: Log, recordings: Recordings | undefined, makeProcess: MakeProcess | undefined) {
    this.#config = config;
    this.#log = log;
    this.#recordings = recordings;
    this.#makeProcess = makeProcess;
  }

  /** The folder of the recordings; undefined if this server has no recordings. */
  get recordings(): string | undefined {
    return this.#recordings?.folder;
  }

  /**
   * Reserves the ports and returns the addresses for encoders, or undefined if encoders cannot connect. Throws if another program uses a port that
   * the operator chose.
   */
  open(): Streaming | undefined {
    const { rtmp_url: rtmpUrl, rtmp_port, rtmps_port, host } = this.#config;
    if (rtmpUrl !== undefined) return { rtmpUrl, rtmpPort: undefined, rtmpsPort: undefined };
    if (rtmp_port === "off") return undefined;
    const wanted = { port: rtmp_port ?? USUAL_PORT, isChoice: rtmp_port === undefined };
    const secure = secureOf(this.#config);
    if (this.#makeProcess === undefined) return { rtmpUrl, rtmpPort: wanted.port, rtmpsPort: secure?.port };
    const wantedSecure = secure === undefined ? [] : [{ port: secure.port, isChoice: rtmps_port === undefined }];
    const [rtmpPort = 0, rtmpsPort] = findFreePorts(host, [wanted, ...wantedSecure]);
    if ((rtmp_port === undefined && rtmpPort !== wanted.port) || (secure !== undefined && rtmps_port === undefined && rtmpsPort !== secure.port))
      this.#log.warn({ rtmp_port: rtmpPort, rtmps_port: rtmpsPort }, "the standard port of RTMP is in use, so encoders must connect to another port");
    const ports = { port: rtmpPort, secure: secure && { ...secure, port: rtmpsPort ?? secure.port } };
    this.#process = this.#makeProcess(ports, (connections) => {
      streaming.connections = connections;
    });
    const listening = within(this.#process.listening, LISTENING_WITHIN_MS);
    const playClip = async (key: string): Promise<TestFeed> => {
      // The test encoder is loaded at its first use, because most servers never use it.
      const { playClip: play } = await import("./test-encoder/test-encoder.ts");
      await listening;
      return play(addressOf(host).replace(/^\[|\]$/g, ""), rtmpPort, key, monotonicMs);
    };
    const streaming: Streaming = { rtmpUrl, rtmpPort, rtmpsPort, listening, playClip };
    return streaming;
  }

  /** Starts the ingest process. The server checks the stream keys of encoders in the given worlds. */
  serve(worlds: Worlds, tracing?: Tracing): void {
    const feeds = new WorldFeeds(worlds, tracing);
    this.#feeds = feeds;
    this.#process?.serve(feeds);
    // If the operator runs a media server, there is no ingest process, and only a timer can notice that the media server has stopped reporting.
    if (this.#config.rtmp_url !== undefined) this.#looking = setInterval(() => this.#loseSilent(feeds), LOOK_EVERY_MS);
  }

  /** Marks the feeds of dead processes as lost when a world has been opened. */
  async opened(world: World): Promise<void> {
    await this.#feeds?.opened(world);
  }

  #loseSilent(feeds: WorldFeeds): void {
    feeds.loseSilent().catch((error: unknown) => this.#log.error(errorFields(error), "the search for silent media servers failed"));
  }

  /** Finishes the recordings and disconnects the encoders. */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    await this.#process?.stop();
    await this.#feeds?.lost();
    this.#recordings?.remove();
  }
}

/** Finds the folder of the recordings. A server that stores its data in memory deletes its recordings when it ends. */
function recordingsOf({ recordings, data }: Config, log: Log): Recordings {
  if (recordings !== undefined) return { folder: recordings, remove: () => {} };
  if (data !== ":memory:") return { folder: join(data.startsWith("postgres") ? ".plaza" : data, "recordings"), remove: () => {} };
  return makeTemporaryFolder("recordings", (error) => log.warn(errorFields(error), "recordings of servers that were killed could not be removed"));
}
