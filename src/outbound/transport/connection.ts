/**
 * One connection to a checked address: TCP, or TLS with the certificate verified for the name that the caller gave. A connection carries one request
 * at a time. The address of a connection is an IP address, so this file does not resolve names.
 */
import { type FailureKind, RequestFailed } from "../request.ts";
import { MalformedResponse, type ResponseReader } from "./response.ts";

export interface Endpoint {
  /** The checked IP address. The connection is opened only to the checked IP address. */
  readonly address: string;
  readonly port: number;
  readonly tls: EndpointTls | undefined;
}

interface EndpointTls {
  /** The server name for which the certificate must be valid. The name is undefined if the certificate must be valid for the IP address itself. */
  readonly serverName: string | undefined;
  /** Certificates (PEM) that are trusted in place of the system's certificates. */
  readonly ca: string | undefined;
}

/**
 * Collects the requests that are sent at the same moment, and writes them one directly after the other. The first request wakes a receiver on the
 * same machine, and the receiver is still awake when the other requests arrive. Separate writes would wake the receiver each time (measured: 8 to 22
 * µs a write instead of 5.6).
 */
interface Writing {
  /** Writes the request to the socket, unless the caller no longer waits for the response. */
  write(): void;
}

export class RequestBurst {
  #waiting: Writing[] = [];

  /** Adds a request. The request is written before the event loop reads from the network again. */
  add(one: Writing): void {
    if (this.#waiting.push(one) === 1) queueMicrotask(this.#flush);
  }

  /**
   * Writes the collected requests. Requests that began together are collected together, because each of these requests has taken the same number of
   * asynchronous steps.
   */
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.write();
  };
}

interface RunningRequest {
  readonly request: string;
  readonly reader: ResponseReader;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly silenceMs: number | undefined;
  /** The timer for the longest silence of the other server. The timer does not run while `takeBody` is busy. */
  silence?: NodeJS.Timeout;
}

type Socket = Bun.Socket<Connection>;

export class Connection implements Writing {
  #socket: Socket | undefined;
  #running: RunningRequest | undefined;
  /** The last part of the request's bytes, which the system's buffer has not accepted yet. */
  #unwritten: Buffer | undefined;
  #opened: { readonly resolve: () => void; readonly reject: (error: RequestFailed) => void } | undefined;
  readonly #isTls: boolean;
  readonly #burst: RequestBurst;
  isOpen = false;
  /** Whether the connection has carried an earlier request. The other server may have closed a connection after its earlier request. */
  wasUsed = false;
  /** Whether the system has accepted the whole last request. */
  hasSent = false;
  /** Monotonic time at which the connection's last request ended. */
  idleSinceMs = 0;

  private constructor(isTls: boolean, burst: RequestBurst) {
    this.#isTls = isTls;
    this.#burst = burst;
  }

  /**
   * Opens a connection. Rejects with `RequestFailed`. If the other server is silent, the promise rejects only after minutes, so callers set a
   * deadline of their own.
   */
  static async open({ address, port, tls }: Endpoint, burst: RequestBurst): Promise<Connection> {
    const connection = new Connection(tls !== undefined, burst);
    const opened = new Promise<void>((resolve, reject) => {
      connection.#opened = { resolve, reject };
    });
    const options = { hostname: address, port, socket: handlers, data: connection };
    Bun.connect<Connection>(tls === undefined ? options : { ...options, tls: tlsOptions(tls) }).catch((error: unknown) =>
      connection.#fail("connect", error instanceof Error ? error.message : String(error)),
    );
    await opened;
    return connection;
  }

  /**
   * Sends a request and reads its response. `request` is the text of the whole request in ASCII. Rejects with `RequestFailed`, for example if no byte
   * arrives for `silenceMs`.
   */
  send(request: string, reader: ResponseReader, silenceMs?: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const running: RunningRequest = { request, reader, silenceMs, resolve, reject };
    this.#running = running;
    this.hasSent = false;
    this.#burst.add(this);
    if (silenceMs === undefined) return promise;
    this.#listen(running);
    return promise.finally(() => clearTimeout(running.silence));
  }

  /** Restarts the time limit for the silence of the other server. */
  #listen(running: RunningRequest): void {
    const { silenceMs } = running;
    if (silenceMs === undefined || this.#running !== running) return;
    clearTimeout(running.silence);
    running.silence = setTimeout(() => {
      this.#fail("timeout", `the server sent nothing for ${silenceMs} ms`);
      this.#socket?.terminate();
    }, silenceMs);
  }

  write(): void {
    const request = this.#running?.request;
    // The caller stopped waiting for the response before the request was written.
    if (request === undefined) return;
    const written = this.isOpen && this.#socket !== undefined ? this.#socket.write(request) : -1;
    if (written < 0) this.#fail("closed", "the connection was closed");
    else if (written < request.length) this.#unwritten = Buffer.from(request.slice(written), "latin1");
    else this.hasSent = true;
  }

  /** Closes the connection at once, even in the middle of a request. */
  close(problem: FailureKind = "closed"): void {
    this.#fail(problem, problem === "timeout" ? "the response was not complete in time" : "the connection was given up");
    this.#socket?.terminate();
  }

  /** Called if the connection could not be opened. The reason for this failure is never a problem of TLS. */
  onConnectError({ message, code = message }: Error & { code?: string }): void {
    this.#fail("connect", code === "ECONNREFUSED" ? "the connection was refused" : `the connection failed: ${code}`);
  }

  onOpen(socket: Socket): void {
    if (this.#opened === undefined) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    if (!this.#isTls) this.#ready();
  }

  onHandshake(isVerified: boolean, problem: string): void {
    if (isVerified) this.#ready();
    else {
      // Errors of OpenSSL itself are about the handshake, for example if the other server does not speak TLS.
      this.#fail("tls", problem.startsWith("error:") ? `the TLS handshake failed: ${problem}` : `the certificate is not valid: ${problem}`);
      this.#socket?.terminate();
    }
  }

  onData(bytes: Buffer): void {
    const running = this.#running;
    if (running === undefined) {
      // The other server sent bytes although no request waits for a response. The connection is closed, because these bytes would be taken for the
      // response to the next request.
      this.isOpen = false;
      this.#socket?.terminate();
      return;
    }
    try {
      running.reader.feed(bytes);
    } catch (error) {
      this.#malformed(error);
      return;
    }
    if (running.reader.taking !== undefined) this.#pause(running, running.reader.taking);
    else if (running.reader.isDone) this.#done(running);
    else this.#listen(running);
  }

  /** Stops reading from the socket until `takeBody` is done. Bytes that the system has already read may still arrive. */
  #pause(running: RunningRequest, taking: Promise<void>): void {
    this.#socket?.pause();
    clearTimeout(running.silence);
    const goOn = () => {
      if (running.reader.taking !== undefined) return;
      this.#listen(running);
      this.#socket?.resume();
      if (running.reader.isDone && this.#running === running) this.#done(running);
    };
    const giveUp = (error: unknown) => {
      if (this.#running === running) this.#running = undefined;
      this.isOpen = false;
      running.reject(error);
      this.#socket?.terminate();
    };
    taking.then(goOn, giveUp);
  }

  onDrain(): void {
    const left = this.#unwritten;
    if (left === undefined || this.#socket === undefined) return;
    const written = this.#socket.write(left);
    this.#unwritten = written < left.length ? left.subarray(Math.max(written, 0)) : undefined;
    this.hasSent = this.#unwritten === undefined;
  }

  onEnd(): void {
    this.isOpen = false;
    const running = this.#running;
    if (running?.reader.hasBegun === true) {
      try {
        running.reader.end();
        const { taking } = running.reader;
        if (taking === undefined) this.#done(running);
        else {
          this.#running = undefined;
          taking.then(running.resolve, running.reject);
        }
      } catch (error) {
        this.#malformed(error);
      }
    }
    this.#fail(this.#opened === undefined ? "closed" : this.#isTls ? "tls" : "connect", "the connection was closed");
  }

  #ready(): void {
    this.isOpen = true;
    this.#opened?.resolve();
    this.#opened = undefined;
  }

  #done(running: RunningRequest): void {
    this.#running = undefined;
    this.wasUsed = true;
    if (!running.reader.isReusable || this.#unwritten !== undefined) {
      this.isOpen = false;
      this.#socket?.end();
    }
    running.resolve();
  }

  #malformed(error: unknown): void {
    this.#fail("malformed", error instanceof MalformedResponse ? error.message : String(error));
    this.#socket?.terminate();
  }

  #fail(kind: FailureKind, problem: string): void {
    this.isOpen = false;
    const error = new RequestFailed(kind, problem);
    this.#opened?.reject(error);
    this.#opened = undefined;
    this.#running?.reject(error);
    this.#running = undefined;
  }
}

/**
 * Returns the options for TLS. The TLS server name must not be an IP address (RFC 6066); without a server name the runtime verifies the certificate
 * for the address. At least one TLS option must be set, because otherwise the runtime would not begin a TLS handshake.
 */
const tlsOptions = ({ ca, serverName }: EndpointTls): Bun.TLSOptions => ({
  rejectUnauthorized: true,
  ...(ca === undefined ? {} : { ca }),
  ...(serverName === undefined ? {} : { serverName }),
});

const handlers: Bun.SocketHandler<Connection, "buffer"> = {
  binaryType: "buffer",
  open: (socket) => socket.data.onOpen(socket),
  handshake: (socket, isVerified, problem) => socket.data.onHandshake(isVerified, problem?.message ?? "unknown"),
  data: (socket, bytes) => socket.data.onData(bytes),
  drain: (socket) => socket.data.onDrain(),
  end: (socket) => socket.data.onEnd(),
  close: (socket) => socket.data.onEnd(),
  error: (socket) => socket.data.onEnd(),
  connectError: (socket, error) => socket.data.onConnectError(error),
};
