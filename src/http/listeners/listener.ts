/**
 * Accepts the connections of clients on Bun's sockets; `../http1` reads HTTP/1.1 on these connections. The page docs/dependencies.md says why Plaza
 * has its own HTTP server.
 */
import type { Socket, SocketHandler, TCPSocketListener, TCPSocketListenOptions, TLSUpgradeOptions } from "bun";
import { type CertificateAndKey, type ServedCertificate, TLS_CIPHERS } from "#config/certificate";
import { nextTurn } from "#kernel/turns";
import { canOpenFile, monotonicMs, realNowMs } from "#system";
import type { ConnectionMetrics } from "#telemetry/request-metrics";
import { Connection, type ConnectionLimits, type ConnectionOwner } from "../http1/connection.ts";
import { headerLines } from "../http1/response-writer.ts";
import { type Clock, Turn } from "../http1/send-buffer.ts";
import { type EvictionLimits, Evictions } from "./evictions.ts";

export interface ListenOptions extends Pick<ConnectionOwner<Connection>, "dispatch" | "refusal"> {
  readonly hostname: string;
  /** The port to listen on. If the port is 0, the system picks a free port. */
  readonly port: number;
  /** Whether several processes listen on the port. */
  readonly reusePort?: boolean;
  /** The certificate for TLS; undefined for HTTP without TLS. */
  readonly certificate: ServedCertificate | undefined;
  readonly limits: ConnectionLimits & EvictionLimits;
  /** The metrics of the connections, which the listener updates. */
  readonly metrics: ConnectionMetrics;
  /** The headers of every response. */
  readonly commonHeaders: Readonly<Record<string, string>>;
}

export interface Listener {
  readonly port: number;
  /**
   * The listener ends each connection after its next response, so that clients connect again and reach another server. The listener still accepts new
   * connections.
   */
  drain(): void;
  /**
   * Stops accepting new requests. Running requests continue, but their connections are closed after `graceMs`. `whenClosed` is called when the port
   * is closed.
   */
  stop(graceMs: number, whenClosed?: () => void): Promise<void>;
}

/** The interval at which time limits are checked. A connection can exceed its time limits by up to this interval. */
const CHECK_EVERY_MS = 1_000;
/**
 * The maximum number of turns of the event loop in which a stopping listener reads from clients that have connected. In one turn all waiting
 * connections are accepted, and in the next turn the bytes of a thousand of them are read.
 */
const ARRIVED_TURNS_MAX = 16;

/** Starts to listen. Throws if the listener cannot listen at the address. */
export function listen(options: ListenOptions): Listener {
  const { hostname, port, certificate, reusePort = false } = options;
  const connections = new Connections(options);
  const socket = certificate === undefined ? connections.handlers : connections.handlersOver(certificate);
  // The half-open option is set because a client may end its side of the connection after its request and still read the response.
  const listener = bind({ hostname, port, reusePort, allowHalfOpen: true, socket });
  connections.watch();
  return {
    port: listener.port,
    drain: () => connections.drain(),
    stop: (graceMs, whenClosed = () => {}) => connections.stop(listener, graceMs, whenClosed),
  };
}

/**
 * Listens on a port. Bun's types have `reusePort` only for clients and UDP, but its listeners accept the option too. Bun's error message does not
 * contain the port, so this function adds the port to the message.
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
  /** Frees the port. The caller frees the reserved port after the processes listen on it, so that no request reaches this process. */
  release(): void;
}

/**
 * Chooses a port for several processes and reserves the port. With `port` 0 the system picks a free port. Throws if this process cannot listen at the
 * address.
 */
export function reservePort(hostname: string, port: number): ReservedPort {
  // A connection that arrives while the port is only reserved is closed.
  const listener = bind({ hostname, port, reusePort: true, socket: { open: (socket) => void socket.terminate(), data: () => {} } });
  return { port: listener.port, release: () => listener.stop(true) };
}

/** The name of HTTP/1.1 in TLS (RFC 7301): one byte with the length of the name, and the name. */
const HTTP_1_1 = Buffer.from("\x08http/1.1");

/**
 * Returns the options that turn an accepted connection into a TLS connection. Bun's types have upgrades to TLS only for clients. `isServer` is the
 * option that Bun's own `node:tls` uses.
 */
const upgrade = (pair: CertificateAndKey, socket: SocketHandler<Connection>): TLSUpgradeOptions<Connection> & { readonly isServer: true } => ({
  tls: { ...pair, ciphers: TLS_CIPHERS, ALPNProtocols: HTTP_1_1 },
  socket,
  isServer: true,
});

class Connections implements ConnectionOwner<Connection> {
  readonly limits: ConnectionLimits;
  readonly clock: Clock = { monotonicMs, nowMs: realNowMs, afterTurn: (run) => void setImmediate(run) };
  readonly turn = new Turn(this.clock);
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
    // The handler ignores the socket's error, because the socket also reports its close after the error.
    error: (): void => {},
  };

  /**
   * Returns the handlers for a port with TLS. Each accepted connection is upgraded to TLS with the certificate that is valid at that moment, because
   * a listener of Bun never changes its first certificate. The time limit for the head of a request includes the TLS handshake.
   */
  handlersOver(certificate: ServedCertificate): SocketHandler<Connection> {
    // If a handler for handshakes is given, Bun opens the TLS socket before the handshake, so that the socket can be ended if no handshake arrives.
    const handlers = { ...this.handlers, handshake: (): void => {} };
    return {
      open: (accepted) => void accepted.upgradeTLS(upgrade(certificate.current, handlers)),
      // The accepted socket gets the encrypted bytes. The handlers of the TLS socket get the decrypted bytes.
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
    // A timer checks the time limits, because no event happens while no bytes arrive.
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
      // A timer limits the wait for running requests, because these requests may wait for other servers.
      const timer = setTimeout(() => this.#abortAll(), graceMs);
      await none;
      clearTimeout(timer);
    }
    clearInterval(this.#checking);
  }

  /**
   * D-350: accepts clients that connected before the port closes, and reads from them, so that the server serves them. The system resets connections
   * that the server has not accepted when the port closes.
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
