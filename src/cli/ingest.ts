/** `plaza ingest`: the process that receives the streams of encoders. Only the server starts this process (`src/ingest/ingest-process.ts`). */
import { Certificate } from "#config/certificate";
import type { Admission, FeedGate, IngestConfig, ToIngest, ToServer, VideoName } from "#ingest/channel";
import { RtmpPort } from "#ingest/rtmp-port";
import { RecordingSpace } from "#recordings/recording-space";
import { errorFields, Log, outliveStrayFailures } from "#telemetry/log";
import { belongsToServer } from "./processes/child-processes.ts";
import { FAILED } from "./terminal/output.ts";

/**
 * The greatest number of connections that have not sent an accepted stream key. A connection without an accepted key ends within 10 s, so
 * this limit is high enough for encoders that connect at the same time.
 */
const UNAUTHENTICATED_MAX = 256;
/**
 * The greatest number of connections from one address that have not sent an accepted stream key. The limit allows that all encoders of a
 * studio behind one address connect at once.
 */
const UNAUTHENTICATED_PER_ADDRESS_MAX = 32;

export async function ingest(): Promise<number> {
  if (!belongsToServer("ingest")) return FAILED;
  const gate = new ServerGate();
  const config = await gate.config;
  const log = new Log({ level: config.log_level, isPretty: config.pretty });
  outliveStrayFailures(log);
  try {
    const port = listen(config, gate, log);
    gate.onDrop = (feeds) => port.drop(feeds);
    send({ kind: "listening" });
    await gate.stopped;
    await port.stop();
    await log.flush();
    return process.exit(0);
  } catch (error) {
    send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    await log.flush();
    return process.exit(FAILED);
  }
}

/** Opens the port for encoders. Throws if the port cannot be opened, or if the certificate cannot be used. */
function listen(config: IngestConfig, gate: ServerGate, log: Log): RtmpPort {
  const { hostname, port, recordings } = config;
  const certificate = config.secure && new Certificate(config.secure.cert, config.secure.key);
  const space = new RecordingSpace(recordings, { bytesMax: config.recordings_bytes_max, reserveBytes: config.disk_reserve_bytes });
  const connectionsMax = config.streams_max + UNAUTHENTICATED_MAX;
  const limits = {
    ...{ bitsPerSecondMax: config.stream_bits_max, connectionsMax },
    ...{ unauthenticatedMax: UNAUTHENTICATED_MAX, unauthenticatedPerAddressMax: UNAUTHENTICATED_PER_ADDRESS_MAX },
  };
  const secure = certificate && { port: config.secure?.port ?? 0, certificate: certificate.current };
  const opened: RtmpPort = new RtmpPort(
    {
      ...{ hostname, port, secure, gate, recordings, space, limits },
      onError: (error, about) => log.error({ ...about, ...errorFields(error) }, "a stream failed unexpectedly"),
      onNote: (about, note) => log.info(about, note),
    },
    (feeds, connections) => send({ kind: "report", feeds, connections }),
  );
  certificate?.onRenewed((pair) => opened.renew(pair));
  certificate?.follow({
    renewed: (valid_to) => log.info({ valid_to }, "the certificate of RTMPS was renewed"),
    unusable: (problem) => log.warn({ problem }, "the renewed certificate cannot be used, so encoders get the previous one"),
  });
  void gate.stopped.then(() => certificate?.close());
  return opened;
}

/** Sends the requests of this process to the server through the channel between the processes. */
class ServerGate implements FeedGate {
  readonly #waiting = new Map<number, (admission: Admission | undefined) => void>();
  #lastId = 0;
  readonly config: Promise<IngestConfig>;
  readonly stopped: Promise<void>;
  onDrop: (feeds: Extract<ToIngest, { kind: "drop" }>["feeds"]) => void = () => {};

  constructor() {
    const config = Promise.withResolvers<IngestConfig>();
    const stopped = Promise.withResolvers<void>();
    this.config = config.promise;
    this.stopped = stopped.promise;
    process.on("message", (message: ToIngest) => {
      if (message.kind === "config") config.resolve(message.config);
      else if (message.kind === "stop") stopped.resolve();
      else if (message.kind === "drop") this.onDrop(message.feeds);
      else this.#replied(message);
    });
  }

  check(key: string): Promise<Admission | undefined> {
    return this.#ask((id) => ({ kind: "check", id, key }));
  }

  start(key: string, { width, height }: { readonly width: number; readonly height: number }): Promise<Admission | undefined> {
    return this.#ask((id) => ({ kind: "start", id, key, width, height }));
  }

  end(feed: Admission["feed"], ending: Extract<ToServer, { kind: "end" }>["ending"]): void {
    send({ kind: "end", feed, ending });
  }

  refused(video: VideoName, reason: string): void {
    send({ kind: "refused", video, reason });
  }

  #ask(question: (id: number) => ToServer): Promise<Admission | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      send(question(id));
    });
  }

  #replied({ id, feed }: Extract<ToIngest, { kind: "reply" }>): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(feed === undefined ? undefined : { feed });
  }
}

const send = (message: ToServer): void => void process.send?.(message);
