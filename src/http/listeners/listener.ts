/**
 * Accepts the connections of clients: HTTP/1.1 as `../http1` reads it, on Bun's sockets. docs/dependencies.md says why Plaza has an HTTP server of
 * its own.
 */
import type { Socket, SocketHandler, TCPSocketListener, TCPSocketListenOptions, TLSUpgradeOptions } from "bun";
import { type CertificateAndKey, type ServedCertificate, TLS_CIPHERS } from "#config/certificate";
import { nextTurn } from "#kernel/turns";
import { canOpenFile, monotonicMs, realNowMs } from "#system";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import { Connection, type ConnectionLimits, type ConnectionOwner } from "../http1/connection.ts";
import { headerLines } from "../http1/response-writer.ts";
import type { Clock } from "../http1/send-buffer.ts";
import { type EvictionLimits, Evictions } from "./evictions.ts";

export interface ListenOptions extends Pick<ConnectionOwner<Connection>, "dispatch" | "refusal"> {
  readonly hostname: string;
  /** The port to listen on. 0 picks a free port. */
  readonly port: number;
  /** Whether several processes listen on the port. */
  readonly reusePort?: boolean;
  /** The certificate for TLS. Undefined means plain HTTP. */
  readonly certificate: ServedCertificate | undefined;
  readonly limits: ConnectionLimits & EvictionLimits;
  /** The metrics of connections, which the listener keeps up to date. */
  readonly metrics: ConnectionMetrics;
  /** Headers that every response has. */
  readonly commonHeaders: Readonly<Record<string, string>>;
}

export interface Listener {
  readonly port: number;
  /** Ends each connection with its next response, so that clients connect again, to another server. New connections are still accepted. */
  drain(): void;
  /**
   * Accepts no new requests from now on. Running requests go on, but after `graceMs` they are cut off. `whenClosed` is called when the port is
   * closed.
   */
  stop(graceMs: number, whenClosed?: () => void): Promise<void>;
}

/** The interval at which time limits are checked. A time limit can be exceeded by this time. */
const CHECK_EVERY_MS = 1_000;
/**
 * The greatest number of turns of the event loop in which a stopping listener reads from clients that have connected. In one turn all waiting
 * connections are accepted, and in the next turn the bytes of a thousand of them are read.
 */
const ARRIVED_TURNS_MAX = 16;

/** Starts to listen. Throws if the listener cannot listen at the address. */
export function listen(options: ListenOptions): Listener {
  const { hostname, port, certificate, reusePort = false } = options;
  const connections = new Connections(options);
  const socket = certificate === undefined ? connections.handlers : connections.handlersOver(certificate);
  // A client may end its side after its request and still read the response.
  const listener = bind({ hostname, port, reusePort, allowHalfOpen: true, socket });
  connections.watch();
  return {
    port: listener.port,
    drain: () => connections.drain(),
    stop: (graceMs, whenClosed = () => {}) => connections.stop(listener, graceMs, whenClosed),
  };
}

/**
 * Listens on a port. Bun's types have `reusePort` only for clients and UDP, but its listeners take the option, too. Bun's error does not contain the
 * port, so the port is added.
 */
function bind(options: TCPSocketListenOptions<Connection> & { readonly reusePort: boolean }): TCPSocketListener<Connection> {
  try {
    return Bun.listen(options);
  } catch (error) {
    if (error instanceof Error) error.message += `:${options.port}`;
    throw error;
  }
}

export interface ReservedPort {
  readonly port: number;
  /** Frees the port. Called when the processes listen, so that no request reaches this process. */
  release(): void;
}

/** Chooses a port for several processes and keeps it. `port` 0 picks a free port. Throws if the address cannot be listened on. */
export function reservePort(hostname: string, port: number): ReservedPort {
  // Connections that come too early are closed.
  const listener = bind({ hostname, port, reusePort: true, socket: { open: (socket) => void socket.terminate(), data: () => {} } });
  return { port: listener.port, release: () => listener.stop(true) };
}

/** The protocol's name for TLS (RFC 7301): the length of the name in a byte, and the name. */
const HTTP_1_1 = Buffer.from("\x08http/1.1");

/**
 * The options that make an accepted connection a TLS connection. Bun's types have such upgrades only for clients. `isServer` is the option that Bun's
 * own `node:tls` uses.
 */
const upgrade = (pair: CertificateAndKey, socket: SocketHandler<Connection>): TLSUpgradeOptions<Connection> & { readonly isServer: true } => ({
  tls: { ...pair, ciphers: TLS_CIPHERS, ALPNProtocols: HTTP_1_1 },
  socket,
  isServer: true,
});

class Connections implements ConnectionOwner<Connection> {
  readonly limits: ConnectionLimits;
  readonly clock: Clock = { monotonicMs, nowMs: realNowMs };
  readonly commonHeaderLines: string;
  readonly dispatch: ListenOptions["dispatch"];
  readonly refusal: ListenOptions["refusal"];
  isStopping = false;
  readonly #open = new Set<Connection>();
  readonly #evictions: Evictions;
  #acceptedCount = 0;
  #checking: ReturnType<typeof setInterval> | undefined;
  #whenNone: (() => void) | undefined;

  constructor({ limits, metrics, commonHeaders, dispatch, refusal }: ListenOptions) {
    this.#evictions = new Evictions(this.#open, limits, metrics);
    this.limits = limits;
    this.commonHeaderLines = headerLines(commonHeaders);
    this.dispatch = dispatch;
    this.refusal = refusal;
  }

  readonly handlers = {
    open: (socket: Socket<Connection>): void => {
      socket.data = new Connection(socket, this);
      this.#open.add(socket.data);
      this.#acceptedCount++;
      this.#evictions.counted();
    },
    data: (socket: Socket<Connection>, bytes: Buffer): void => socket.data.received(bytes),
    drain: (socket: Socket<Connection>): void => socket.data.drained(),
    end: (socket: Socket<Connection>): void => socket.data.peerEnded(),
    close: (socket: Socket<Connection>): void => socket.data.closed(),
    // The socket reports its close after the error.
    error: (): void => {},
  };

  /**
   * The handlers for a port with TLS. Each connection is made a TLS connection when it is accepted, with the certificate of that moment, because a
   * listener of Bun keeps the certificate that it began with. The time that a head may take includes the handshake.
   */
  handlersOver(certificate: ServedCertificate): SocketHandler<Connection> {
    // If a handler for handshakes is given, Bun opens the TLS socket before its handshake, so that the socket can be ended if no handshake comes.
    const handlers = { ...this.handlers, handshake: (): void => {} };
    return {
      open: (accepted) => void accepted.upgradeTLS(upgrade(certificate.current, handlers)),
      // These bytes are encrypted. The handlers of the TLS socket get the decrypted bytes.
      data: () => {},
      error: () => {},
    };
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    this.#evictions.counted();
    if (this.#open.size === 0) this.#whenNone?.();
  }

  held(bytes: number): void {
    this.#evictions.held(bytes);
  }

  watch(): void {
    // The check needs a timer, because nothing else notices that no bytes come.
    this.#checking = setInterval(() => this.#checkTime(), CHECK_EVERY_MS);
  }

  drain(): void {
    this.isStopping = true;
  }

  async stop(listener: TCPSocketListener<Connection>, graceMs: number, whenClosed: () => void): Promise<void> {
    this.isStopping = true;
    await this.#readArrived();
    listener.stop(false);
    whenClosed();
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve;
    });
    for (const connection of [...this.#open]) connection.endIfIdle();
    if (this.#open.size > 0) {
      // The end needs a timer, because running requests may wait for other servers.
      const timer = setTimeout(() => this.#abortAll(), graceMs);
      await none;
      clearTimeout(timer);
    }
    clearInterval(this.#checking);
  }

  /**
   * D-350: reads from clients that connected before the port closes, so that they are served. The system would reset connections that nobody has
   * accepted.
   */
  async #readArrived(): Promise<void> {
    for (let turn = 0, before = -1; turn < ARRIVED_TURNS_MAX && before !== this.#acceptedCount; turn++) {
      before = this.#acceptedCount;
      await nextTurn();
      await nextTurn();
    }
  }

  #abortAll(): void {
    for (const connection of [...this.#open]) connection.abort();
  }

  #checkTime(): void {
    if (!canOpenFile()) this.#evictions.filesUsedUp();
    const nowMs = monotonicMs();
    for (const connection of [...this.#open]) connection.checkTime(nowMs);
  }
}
