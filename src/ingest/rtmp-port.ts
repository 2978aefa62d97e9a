/** The port for encoders: connections, their time limits, and what they send. */
import type { Socket, TCPSocketListener } from "bun";
import type { CertificateAndKey } from "#config/certificate";
import type { RecordingSpace } from "#recordings/recording-space";
import { monotonicMs, randomKey, realNowMs } from "#system";
import type { FeedGate, FeedHealth, FeedName } from "./channel.ts";
import type { FeedLimits } from "./session/feed.ts";
import { Publisher, type PublisherOwner } from "./session/publisher.ts";

export interface RtmpPortOptions extends Pick<PublisherOwner, "gate" | "recordings" | "space" | "onError" | "onNote"> {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** RTMPS; undefined: none. */
  readonly secure?: { readonly port: number; readonly certificate: CertificateAndKey } | undefined;
  readonly limits: FeedLimits & ConnectionLimits;
}

interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Connections without an accepted key. */
  readonly unauthenticatedMax: number;
}

/** Time limits are overrun by this at most, and so often feeds are reported. */
const TICK_MS = 1_000;

export class RtmpPort implements PublisherOwner {
  readonly #options: RtmpPortOptions;
  readonly #publishers = new Set<Publisher>();
  /** Recordings of connections that are closed and still write. */
  readonly #closing = new Set<Promise<void>>();
  readonly #plain: TCPSocketListener<Publisher>;
  #secure: TCPSocketListener<Publisher> | undefined;
  readonly #ticking: ReturnType<typeof setInterval>;
  readonly gate: FeedGate;
  readonly recordings: string;
  readonly space: RecordingSpace;
  readonly limits: FeedLimits;
  readonly monotonicMs = monotonicMs;
  readonly realNowMs = realNowMs;
  readonly randomBytes = randomKey;

  /** `report` gets the health of all feeds once a second. Throws where the address cannot be listened on. */
  constructor(options: RtmpPortOptions, report: (feeds: readonly FeedHealth[]) => void) {
    this.#options = options;
    this.gate = options.gate;
    this.recordings = options.recordings;
    this.space = options.space;
    this.limits = options.limits;
    this.#plain = this.#listen(options.port);
    try {
      if (options.secure !== undefined) this.#secure = this.#listen(options.secure.port, options.secure.certificate);
    } catch (error) {
      this.#plain.stop(true);
      throw error;
    }
    // A timer because only it can notice that nothing comes.
    this.#ticking = setInterval(() => {
      for (const publisher of [...this.#publishers]) publisher.checkTime();
      report(this.health);
    }, TICK_MS);
  }

  get port(): number {
    return this.#plain.port;
  }

  get securePort(): number | undefined {
    return this.#secure?.port;
  }

  /** New connections get this certificate; the present ones go on. One that is none throws, and the one before stays. */
  renew(certificate: CertificateAndKey): void {
    const listener = this.#secure;
    if (listener === undefined) return;
    // A certificate that is none shows on a port of its own, while the old listener is still there.
    this.#listen(0, certificate).stop(true);
    listener.stop(false);
    this.#secure = this.#listen(listener.port, certificate);
  }

  get health(): FeedHealth[] {
    return [...this.#publishers].flatMap(({ health }) => health ?? []);
  }

  publisherOf({ world, video }: FeedName): Publisher | undefined {
    for (const publisher of this.#publishers) if (publisher.video === video && publisher.world === world) return publisher;
    return undefined;
  }

  onError(error: unknown, about: Readonly<Record<string, unknown>>): void {
    this.#options.onError(error, about);
  }

  onNote(about: Readonly<Record<string, unknown>>, note: string): void {
    this.#options.onNote(about, note);
  }

  /** The server has ended these feeds. */
  drop(feeds: readonly FeedName[]): void {
    for (const feed of feeds) {
      const publisher = [...this.#publishers].find((one) => one.publishes(feed));
      if (publisher !== undefined) void publisher.stop("The broadcast has ended");
    }
  }

  /** Takes no new connections and ends the open ones; resolves when all recordings are whole. */
  async stop(): Promise<void> {
    const listeners = [this.#plain, ...(this.#secure === undefined ? [] : [this.#secure])];
    for (const listener of listeners) listener.stop(false);
    clearInterval(this.#ticking);
    await Promise.all([...[...this.#publishers].map((publisher) => publisher.stop("The server ends", "lost")), ...this.#closing]);
    for (const listener of listeners) listener.stop(true);
  }

  #listen(port: number, tls?: CertificateAndKey): TCPSocketListener<Publisher> {
    return Bun.listen<Publisher>({
      ...{ hostname: this.#options.hostname, port },
      ...(tls === undefined ? {} : { tls: { ...tls } }),
      socket: {
        open: (socket) => this.#open(socket),
        data: (socket, bytes) => socket.data?.received(bytes),
        drain: (socket) => socket.data?.drained(),
        end: (socket) => void socket.end(),
        close: (socket) => this.#closed(socket.data),
        // A close follows.
        error: () => {},
      },
    });
  }

  #open(socket: Socket<Publisher>): void {
    const { connectionsMax, unauthenticatedMax } = this.#options.limits;
    let unauthenticated = 0;
    for (const publisher of this.#publishers) if (publisher.isUnauthenticated) unauthenticated++;
    if (this.#publishers.size >= connectionsMax || unauthenticated >= unauthenticatedMax) {
      socket.terminate();
      return;
    }
    socket.data = new Publisher(socket, this);
    this.#publishers.add(socket.data);
  }

  #closed(publisher: Publisher | undefined): void {
    if (publisher === undefined) return;
    this.#publishers.delete(publisher);
    const closing = publisher.closed().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
