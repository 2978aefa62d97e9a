/** Live video from encoders, as the server runs it: the ingest process, and the registry of its feeds. */
import { join } from "node:path";
import type { Config } from "#config/config";
import { addressOf } from "#config/listening";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { Streaming, TestFeed, World } from "#graph/worlds/world";
import { within } from "#kernel/turns";
import { makeFolder } from "#storage/synced-folders";
import { makeTemporaryFolder } from "#storage/temporary-folder";
import { monotonicMs } from "#system";
import { errorFields, type Log } from "#telemetry/log";
import type { IngestConfig } from "./channel.ts";
import { findFreePorts } from "./free-ports.ts";
import { type IngestObserver, type IngestProcess, startIngest } from "./ingest-process.ts";
import { WorldFeeds } from "./world-feeds.ts";

/** RTMP's own; of RTMPS, the next one, since 443 is that of the web. */
const USUAL_PORT = 1935;
const USUAL_SECURE_PORT = 1936;

/** How often silent media servers are looked for. */
const LOOK_EVERY_MS = 5_000;
/** A process starts in a tenth of a second. Where it cannot listen, the log says so, and requests do not wait for it any longer. */
const LISTENING_WITHIN_MS = 5_000;

export interface LiveIngest {
  /** The folder of the recordings; undefined: there are none. */
  readonly recordings: string | undefined;
  /** Where encoders connect; undefined: they cannot. Throws where a port that was asked for is not to be had. */
  open(): Streaming | undefined;
  /** Starts the process: from now on keys are checked in these worlds. */
  serve(worlds: Worlds): void;
  /** One of them is open: feeds of processes that are dead are lost. */
  opened(world: World): Promise<void>;
  /** Recordings become whole, and encoders are disconnected. */
  stop(): Promise<void>;
}

/** Nothing is started yet. `isOwner`: others of the same server only know its address. */
export function openLiveIngest(config: Config, log: Log, isOwner: boolean): LiveIngest {
  const { rtmp_url: rtmpUrl, rtmp_port: port } = config;
  const isTaken = rtmpUrl === undefined && port !== "off";
  const recordings = isTaken || config.data !== ":memory:" ? recordingsOf(config, log) : undefined;
  if (!isTaken || !isOwner || recordings === undefined) return new Ingest(config, log, recordings, undefined);
  // The process writes there, and would fail later.
  makeFolder(recordings.folder);
  return new Ingest(config, log, recordings, (ports, counted) =>
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
        failed: (error) => log.error(errorFields(error), "the ingest process could not be served"),
        counted,
      },
    ),
  );
}

/** RTMPS runs where there is a certificate. */
function secureOf({ tls_cert: cert, tls_key: key, rtmps_port: port }: Config): IngestConfig["secure"] {
  return cert === undefined || key === undefined || port === "off" ? undefined : { port: port ?? USUAL_SECURE_PORT, cert, key };
}

interface Recordings {
  readonly folder: string;
  /** At the end of the program. */
  remove(): void;
}

type MakeProcess = (ports: Pick<IngestConfig, "port" | "secure">, counted: IngestObserver["counted"]) => IngestProcess;

class Ingest implements LiveIngest {
  readonly #config: Config;
  readonly #log: Log;
  readonly #recordings: Recordings | undefined;
  readonly #makeProcess: MakeProcess | undefined;
  #process: IngestProcess | undefined;
  #feeds: WorldFeeds | undefined;
  #looking: ReturnType<typeof setInterval> | undefined;

  /** `makeProcess` undefined: the process is not this server's part. */
  constructor(config: Config, log: Log, recordings: Recordings | undefined, makeProcess: MakeProcess | undefined) {
    this.#config = config;
    this.#log = log;
    this.#recordings = recordings;
    this.#makeProcess = makeProcess;
  }

  get recordings(): string | undefined {
    return this.#recordings?.folder;
  }

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
      this.#log.warn({ rtmp_port: rtmpPort, rtmps_port: rtmpsPort }, "a usual port of RTMP is taken: streams are taken on another one");
    const ports = { port: rtmpPort, secure: secure && { ...secure, port: rtmpsPort ?? secure.port } };
    this.#process = this.#makeProcess(ports, (connections) => {
      streaming.connections = connections;
    });
    const listening = within(this.#process.listening, LISTENING_WITHIN_MS);
    const playClip = async (key: string): Promise<TestFeed> => {
      // Loaded when somebody first asks for it.
      const { playClip: play } = await import("./test-encoder/test-encoder.ts");
      await listening;
      return play(addressOf(host).replace(/^\[|\]$/g, ""), rtmpPort, key, monotonicMs);
    };
    const streaming: Streaming = { rtmpUrl, rtmpPort, rtmpsPort, listening, playClip };
    return streaming;
  }

  serve(worlds: Worlds): void {
    const feeds = new WorldFeeds(worlds);
    this.#feeds = feeds;
    this.#process?.serve(feeds);
    // No process reports that would have them looked for. A timer because only it can notice that a media server says nothing more.
    if (this.#config.rtmp_url !== undefined) this.#looking = setInterval(() => this.#loseSilent(feeds), LOOK_EVERY_MS);
  }

  async opened(world: World): Promise<void> {
    await this.#feeds?.opened(world);
  }

  #loseSilent(feeds: WorldFeeds): void {
    feeds.loseSilent().catch((error: unknown) => this.#log.error(errorFields(error), "silent media servers could not be looked for"));
  }

  async stop(): Promise<void> {
    clearInterval(this.#looking);
    await this.#process?.stop();
    await this.#feeds?.lost();
    this.#recordings?.remove();
  }
}

/** What is in memory has recordings only as long as the program runs. */
function recordingsOf({ recordings, data }: Config, log: Log): Recordings {
  if (recordings !== undefined) return { folder: recordings, remove: () => {} };
  if (data !== ":memory:") return { folder: join(data.startsWith("postgres") ? ".plaza" : data, "recordings"), remove: () => {} };
  return makeTemporaryFolder("recordings", (error) => log.warn(errorFields(error), "recordings of servers that were killed could not be removed"));
}
