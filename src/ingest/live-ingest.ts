/** Live video from encoders, as the server runs it: the ingest process, and the registry of its feeds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "#config/config";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import type { Streaming, World } from "#graph/worlds/world";
import { errorFields, type Log } from "#telemetry/log";
import type { IngestConfig } from "./channel.ts";
import { type IngestProcess, startIngest } from "./ingest-process.ts";
import { WorldFeeds } from "./world-feeds.ts";

/** RTMP's own; of RTMPS, the next one, since 443 is that of the web. */
const USUAL_PORT = 1935;
const USUAL_SECURE_PORT = 1936;

export interface LiveIngest {
  /** The folder of the recordings; undefined: there are none. */
  readonly recordings: string | undefined;
  /** Where encoders connect, once the process listens; undefined: they cannot. Rejects where the port that was asked for is not to be had. */
  ready(): Promise<Streaming | undefined>;
  /** From now on keys are checked in these worlds. */
  serve(worlds: Worlds): void;
  /** One of them is open: feeds of processes that are dead are lost. */
  opened(world: World): Promise<void>;
  /** Recordings become whole, and encoders are disconnected. */
  stop(): Promise<void>;
}

/** Starts the process, if there is to be one. `isOwner`: others of the same server only know its address. */
export function openLiveIngest(config: Config, log: Log, isOwner: boolean): LiveIngest {
  const { rtmp_url: rtmpUrl, rtmp_port: port } = config;
  const isTaken = rtmpUrl === undefined && port !== "off";
  const recordings = isTaken || config.data !== ":memory:" ? recordingsOf(config) : undefined;
  if (!isTaken) return new Ingest(rtmpUrl === undefined ? undefined : { rtmpUrl, rtmpPort: undefined, rtmpsPort: undefined }, undefined, recordings);
  const rtmpPort = port ?? USUAL_PORT;
  const secure = secureOf(config);
  if (!isOwner || recordings === undefined) return new Ingest({ rtmpPort, rtmpUrl, rtmpsPort: secure?.port }, undefined, recordings);
  const process = startIngest(
    {
      hostname: config.host,
      port: rtmpPort,
      isPortChoice: port === undefined,
      secure,
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
    },
  );
  return new Ingest(undefined, process, recordings);
}

/** RTMPS runs where there is a certificate. */
function secureOf({ tls_cert: cert, tls_key: key, rtmps_port: port }: Config): IngestConfig["secure"] {
  if (cert === undefined || key === undefined || port === "off") return undefined;
  return { port: port ?? USUAL_SECURE_PORT, isPortChoice: port === undefined, cert, key };
}

interface Recordings {
  readonly folder: string;
  /** At the end of the program. */
  remove(): void;
}

class Ingest implements LiveIngest {
  readonly #elsewhere: Streaming | undefined;
  readonly #process: IngestProcess | undefined;
  readonly #recordings: Recordings | undefined;
  #feeds: WorldFeeds | undefined;

  /** `elsewhere`: where streams go that this process does not take. */
  constructor(elsewhere: Streaming | undefined, process: IngestProcess | undefined, recordings: Recordings | undefined) {
    this.#elsewhere = elsewhere;
    this.#process = process;
    this.#recordings = recordings;
  }

  get recordings(): string | undefined {
    return this.#recordings?.folder;
  }

  async ready(): Promise<Streaming | undefined> {
    if (this.#process === undefined) return this.#elsewhere;
    const { port, securePort } = await this.#process.listening();
    return { rtmpPort: port, rtmpsPort: securePort, rtmpUrl: undefined };
  }

  serve(worlds: Worlds): void {
    this.#feeds = new WorldFeeds(worlds);
    this.#process?.serve(this.#feeds);
  }

  async opened(world: World): Promise<void> {
    await this.#feeds?.opened(world);
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    await this.#feeds?.lost();
    this.#recordings?.remove();
  }
}

/** What is in memory has recordings only as long as the program runs. */
function recordingsOf({ recordings, data }: Config): Recordings {
  if (recordings !== undefined) return { folder: recordings, remove: () => {} };
  if (data !== ":memory:") return { folder: join(data.startsWith("postgres") ? ".plaza" : data, "recordings"), remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "plaza-recordings-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
