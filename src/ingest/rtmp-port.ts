/** The port for encoders, with its connections and the limits of their number and duration. */
import type { Socket, TCPSocketListener } from "bun";
import ipaddr from "ipaddr.js";
import { type CertificateAndKey, TLS_CIPHERS } from "#config/certificate";
import type { RecordingSpace } from "#recordings/recording-space";
import { monotonicMs, randomKey, realNowMs } from "#system";
import type { ConnectionCounts, FeedGate, FeedHealth, FeedName } from "./channel.ts";
import type { FeedLimits } from "./session/feed.ts";
import { Publisher, type PublisherOwner } from "./session/publisher.ts";

export interface RtmpPortOptions extends Pick<PublisherOwner, "gate" | "recordings" | "space" | "onError" | "onNote"> {
  readonly hostname: string;
  /** The port of RTMP; 0 picks a free port. */
  readonly port: number;
  /** The port and certificate of RTMPS; undefined means that RTMPS is not served. */
  readonly secure?: { readonly port: number; readonly certificate: CertificateAndKey } | undefined;
  readonly limits: FeedLimits & ConnectionLimits;
}

interface ConnectionLimits {
  readonly connectionsMax: number;
  /** The greatest number of connections without an accepted stream key, for all addresses together. The next field is the limit for one address. */
  readonly unauthenticatedMax: number;
  readonly unauthenticatedPerAddressMax: number;
}

/** The interval at which time limits are checked and feeds are reported. */
const TICK_MS = 1_000;
/** The shortest interval between two log lines about closed connections. */
const CLOSED_NOTED_EVERY_MS = 10_000;
/**
 * The time in which a new connection must send its first bytes. During this time, the limits for connections without a key do not count the new
 * connection.
 */
const FIRST_BYTES_WITHIN_MS = 1_000;

export class RtmpPort implements PublisherOwner {
  readonly #options: RtmpPortOptions;
  readonly #publishers = new Set<Publisher>();
  /** The recordings of closed connections that are still being written. */
  readonly #closing = new Set<Promise<void>>();
  /** The network address of each open connection. */
  readonly #addresses = new Map<Publisher, string>();
  /** The number of connections that were closed or refused because there were too many. */
  #turnedAway = 0;
  /** The number of closed or refused connections by address, since the last log line about them. */
  #unnoted = new Map<string, number>();
  #notedMs = Number.NEGATIVE_INFINITY;
  readonly #plain: TCPSocketListener<Publisher>;
  #secure: TCPSocketListener<Publisher> | undefined;
  readonly #ticking: ReturnType<typeof setInterval>;
  #closingSoon: ReturnType<typeof setTimeout> | undefined;
  readonly gate: FeedGate;
  readonly recordings: string;
  readonly space: RecordingSpace;
  readonly limits: FeedLimits;
  readonly monotonicMs = monotonicMs;
  readonly realNowMs = realNowMs;
  readonly randomBytes = randomKey;

  /** Calls `report` once a second with the health of all feeds and the numbers of connections. Throws if the server cannot listen at the address. */
  constructor(options: RtmpPortOptions, report: (feeds: readonly FeedHealth[], connections: ConnectionCounts) => void) {
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
    // A timer checks the time limits, because no event happens while encoders are silent.
    this.#ticking = setInterval(() => {
      for (const publisher of [...this.#publishers]) publisher.checkTime();
      this.#noteTurnedAway();
      report(this.health, this.connections);
    }, TICK_MS);
  }

  get port(): number {
    return this.#plain.port;
  }

  get securePort(): number | undefined {
    return this.#secure?.port;
  }

  /**
   * Uses the given certificate for new connections; open connections continue. If the certificate is not valid, throws and keeps the old certificate.
   */
  renew(certificate: CertificateAndKey): void {
    const listener = this.#secure;
    if (listener === undefined) return;
    // The certificate is first tried on another port, so that the old listener stays open if the certificate is not valid.
    this.#listen(0, certificate).stop(true);
    listener.stop(false);
    this.#secure = this.#listen(listener.port, certificate);
  }

  get health(): FeedHealth[] {
    return [...this.#publishers].flatMap(({ health }) => health ?? []);
  }

  get connections(): ConnectionCounts {
    const open = [...this.#publishers];
    return { open: open.length, without_key: open.filter((one) => one.isUnauthenticated).length, turned_away: this.#turnedAway };
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

  /** Ends the given feeds, because the server has ended their broadcasts. */
  drop(feeds: readonly FeedName[]): void {
    for (const feed of feeds) {
      const publisher = [...this.#publishers].find((one) => one.publishes(feed));
      if (publisher !== undefined) void publisher.stop("The broadcast has ended");
    }
  }

  /** Refuses new connections and ends open connections. Resolves when all recordings are complete. */
  async stop(): Promise<void> {
    const listeners = [this.#plain, ...(this.#secure === undefined ? [] : [this.#secure])];
    for (const listener of listeners) listener.stop(false);
    clearInterval(this.#ticking);
    clearTimeout(this.#closingSoon);
    await Promise.all([...[...this.#publishers].map((publisher) => publisher.stop("The server is shutting down", "lost")), ...this.#closing]);
    for (const listener of listeners) listener.stop(true);
  }

  #listen(port: number, tls?: CertificateAndKey): TCPSocketListener<Publisher> {
    return Bun.listen<Publisher>({
      ...{ hostname: this.#options.hostname, port },
      ...(tls === undefined ? {} : { tls: { ...tls, ciphers: TLS_CIPHERS } }),
      socket: {
        open: (socket) => this.#open(socket),
        data: (socket, bytes) => socket.data?.received(bytes),
        drain: (socket) => socket.data?.drained(),
        end: (socket) => void socket.end(),
        close: (socket) => this.#closed(socket.data),
        // Errors are ignored here, because the runtime calls `close` after an error.
        error: () => {},
      },
    });
  }

  #open(socket: Socket<Publisher>): void {
    const address = networkOf(socket.remoteAddress);
    const { connectionsMax } = this.#options.limits;
    if (this.#publishers.size >= connectionsMax) this.#closeUnauthenticated([...this.#publishers], this.#publishers.size - connectionsMax + 1);
    if (this.#publishers.size >= connectionsMax) {
      this.#turnAway(address, () => socket.terminate());
      return;
    }
    socket.data = new Publisher(socket, this);
    this.#publishers.add(socket.data);
    this.#addresses.set(socket.data, address);
    this.#closeSoon();
  }

  /** Closes surplus connections after a moment, in which the server reads the first bytes of new connections, because only encoders send bytes. */
  #closeSoon(): void {
    // A timer closes connections, because a silent connection causes no event.
    this.#closingSoon ??= setTimeout(() => {
      this.#closingSoon = undefined;
      const known = [...this.#publishers].filter((one) => one.hasSent || one.silentMs >= FIRST_BYTES_WITHIN_MS);
      this.#closeUnauthenticated(known, 0);
      if (known.length < this.#publishers.size) this.#closeSoon();
    }, FIRST_BYTES_WITHIN_MS);
  }

  /**
   * Closes connections without a key (D-298): first those that exceed the limit of their address, and then others, until at least `least` are closed,
   * beginning with the address that has the most connections. Among the connections of an address, the silent ones are closed first and then the
   * oldest ones, because an encoder sends its key at once.
   */
  #closeUnauthenticated(publishers: readonly Publisher[], least: number): void {
    const { unauthenticatedMax, unauthenticatedPerAddressMax } = this.#options.limits;
    const unauthenticated = publishers.filter((one) => one.isUnauthenticated);
    const ordered = [...unauthenticated.filter((one) => !one.hasSent), ...unauthenticated.filter((one) => one.hasSent)];
    const byAddress = [...Map.groupBy(ordered, (one) => this.#addresses.get(one) ?? "").values()];
    const closed = byAddress.flatMap((own) => own.splice(0, own.length - unauthenticatedPerAddressMax));
    for (let left = Math.max(least, unauthenticated.length - unauthenticatedMax) - closed.length; left > 0; left--) {
      const next = byAddress.reduce((most, one) => (one.length > most.length ? one : most), []).shift();
      if (next === undefined) break;
      closed.push(next);
    }
    for (const publisher of closed) {
      const address = this.#addresses.get(publisher) ?? "";
      this.#closed(publisher);
      this.#turnAway(address, () => publisher.terminate());
    }
  }

  #turnAway(address: string, close: () => void): void {
    this.#turnedAway++;
    this.#unnoted.set(address, (this.#unnoted.get(address) ?? 0) + 1);
    close();
  }

  /** D-298: logs the closed and refused connections, in one line for all of them, so that a flood of connections does not fill the log. */
  #noteTurnedAway(): void {
    if (this.#unnoted.size === 0 || monotonicMs() - this.#notedMs < CLOSED_NOTED_EVERY_MS) return;
    const [address, count] = [...this.#unnoted].reduce((most, one) => (one[1] > most[1] ? one : most));
    const about = { connections: [...this.#unnoted.values()].reduce((sum, one) => sum + one, 0), most_of: address, of_it: count };
    this.#options.onNote(about, "too many encoders are connected without a stream key, so some were disconnected");
    this.#unnoted.clear();
    this.#notedMs = monotonicMs();
  }

  #closed(publisher: Publisher | undefined): void {
    if (publisher === undefined || !this.#publishers.delete(publisher)) return;
    this.#addresses.delete(publisher);
    const closing = publisher.closed().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** Returns the network of an address. The network of an IPv6 address is its /64, because one host can have all addresses of a /64. */
function networkOf(address: string): string {
  const client = ipaddr.process(address.split("%", 1)[0] as string);
  return client instanceof ipaddr.IPv6 ? `${client.parts.slice(0, 4).join(":")}::/64` : client.toString();
}
