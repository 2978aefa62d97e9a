/**
 * The listener of `--http node`: the runtime's `node:http` reads the bytes, and `../http1` checks what it made of them. It is there to
 * be compared with, and for operators who trust it more; docs/dependencies.md says what it costs and what it does less well.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Server as TlsServer } from "node:tls";
import { realNowMs } from "#system";
import type { ReceivedBody } from "../http1/incoming-body.ts";
import { checkedHead, malformed, type ProtocolProblem, type RequestHead } from "../http1/request-head.ts";
import { hasContent, headerLines, type ResponseHead, responseHeadText, type TextResponse } from "../http1/response-writer.ts";
import { parserHeaderBytesMax } from "../limits.ts";
import type { Exchange, Listen, ListenOptions } from "./listener.ts";
import { tlsInFrontOf } from "./node-tls.ts";

export const listenNode: Listen = async (options) => {
  const { hostname, port, certificate, limits } = options;
  const server = createServer({
    maxHeaderSize: parserHeaderBytesMax(limits),
    headersTimeout: limits.headMsMax,
    keepAliveTimeout: limits.keepAliveMs,
    // Bodies have a timer of their own.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    // Checked here, so that the response is one of the interface.
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;
  const requests = new NodeRequests(server, options);
  const listener = certificate === undefined ? server : tlsInFrontOf(server, certificate, limits, requests);
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen({ host: hostname, port }, () => resolve());
  });
  return { port: (listener.address() as AddressInfo).port, stop: (graceMs) => requests.stop(listener, graceMs) };
};

/** The requests of all connections; on one connection each waits for the one before it. */
class NodeRequests {
  readonly #server: Server;
  readonly #options: ListenOptions;
  readonly #latest = new WeakMap<Duplex, NodeExchange>();
  readonly #open = new Set<Duplex>();
  isStopping = false;

  constructor(server: Server, options: ListenOptions) {
    this.#server = server;
    this.#options = options;
    server.on("connection", (socket: Duplex) => this.#count(socket));
    for (const event of ["request", "checkContinue", "checkExpectation"])
      server.on(event, (message: IncomingMessage, response: ServerResponse) => this.#take(message, response));
    server.on("connect", (_message, socket) => this.#refuse(socket, malformed("CONNECT is for proxies, and this is none")));
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#fail(error, socket));
  }

  /** Above the cap the connection without a request that was opened first is closed: `node:http` does not say which has waited longest. */
  #count(socket: Duplex): void {
    const { limits, metrics } = this.#options;
    this.#open.add(socket);
    metrics.open = this.#open.size;
    socket.once("close", () => {
      this.#open.delete(socket);
      metrics.open = this.#open.size;
    });
    if (this.#open.size <= limits.connectionsMax) return;
    metrics.evicted++;
    for (const one of this.#open) {
      if (this.#latest.get(one)?.isFinished === false) continue;
      one.destroy();
      return;
    }
  }

  #take(message: IncomingMessage, response: ServerResponse): void {
    const head = checkedHead(message.method ?? "", message.url ?? "", message.rawHeaders, message.httpVersion === "1.0");
    const exchange = new NodeExchange(head, message, response, this.#options.commonHeaders, () => this.isStopping);
    const before = this.#latest.get(message.socket);
    this.#latest.set(message.socket, exchange);
    const begin = (): void => {
      if (!("kind" in head)) {
        this.#options.dispatch(head, exchange);
        return;
      }
      exchange.send(this.#options.refusal(head));
      exchange.finish();
    };
    if (before?.isFinished === false) before.next = begin;
    else if (before?.isLast !== true) begin();
  }

  /** `node:http` refuses bytes: of the body that is awaited, or of a head. */
  #fail(error: NodeJS.ErrnoException, socket: Duplex): void {
    const exchange = this.#latest.get(socket);
    if (error.code === "HPE_INVALID_EOF_STATE" || !socket.writable) socket.destroy();
    else if (exchange?.isAwaitingBody === true) exchange.failBody(socket);
    else if (exchange === undefined || exchange.isFinished) this.#refuse(socket, problemOf(error, this.#options));
    else exchange.next = () => this.#refuse(socket, problemOf(error, this.#options));
  }

  #refuse(socket: Duplex, problem: ProtocolProblem): void {
    socket.end(lastResponse(this.#options.refusal(problem), this.#options.commonHeaders));
  }

  latestOn(socket: Duplex): NodeExchange | undefined {
    return this.#latest.get(socket);
  }

  refuseSlowHead(socket: Duplex): void {
    this.#refuse(socket, { kind: "head-too-slow", msMax: this.#options.limits.headMsMax });
  }

  /** `listener` accepts the connections: the HTTP server itself, or TLS in front of it. */
  async stop(listener: Server | TlsServer, graceMs: number): Promise<void> {
    this.isStopping = true;
    const closed = new Promise((resolve) => listener.close(resolve));
    this.#server.closeIdleConnections();
    // A timer because running requests may hang on a network that is not ours.
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }
}

function problemOf({ code = "unknown error" }: NodeJS.ErrnoException, { limits }: ListenOptions): ProtocolProblem {
  if (code === "HPE_HEADER_OVERFLOW") return { kind: "head-too-large" };
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { kind: "head-too-slow", msMax: limits.headMsMax };
  return malformed(`node:http refuses it as ${code}`);
}

/** A response past `node:http`, which writes none to what it has refused. */
const lastResponse = (response: TextResponse, commonHeaders: Readonly<Record<string, string>>): string => {
  const further = `${headerLines(commonHeaders)}connection: close\r\ncontent-length: ${Buffer.byteLength(response.body)}\r\n`;
  return `${responseHeadText(response, further, realNowMs())}\r\n${response.body}`;
};

class NodeExchange implements Exchange {
  readonly #head: RequestHead | ProtocolProblem;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #commonHeaders: Readonly<Record<string, string>>;
  readonly #isStopping: () => boolean;
  #isBodyReceived: boolean;
  #bodyBytesMax = 0;
  #settleBody: ((body: ReceivedBody) => void) | undefined;
  /** Where the response goes once `node:http` has refused the body. */
  #refusedSocket: Duplex | undefined;
  isGone = false;
  isFinished = false;
  /** What comes next on the connection. */
  next: (() => void) | undefined;

  constructor(
    head: RequestHead | ProtocolProblem,
    message: IncomingMessage,
    response: ServerResponse,
    commonHeaders: Readonly<Record<string, string>>,
    isStopping: () => boolean,
  ) {
    this.#head = head;
    this.#message = message;
    this.#response = response;
    this.#commonHeaders = commonHeaders;
    this.#isStopping = isStopping;
    this.#isBodyReceived = "framing" in head && head.framing === 0;
    response.once("close", () => this.#close());
    // A close follows.
    message.on("error", () => {});
    response.on("error", () => {});
  }

  get remoteAddress(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  get isLast(): boolean {
    return "kind" in this.#head || !this.#head.isKept || !this.#isBodyReceived || this.#isStopping();
  }

  get hasBegunResponse(): boolean {
    return this.#response.headersSent;
  }

  get isAwaitingBody(): boolean {
    return this.#settleBody !== undefined;
  }

  receiveBody(bytesMax: number): ReceivedBody | undefined {
    this.#bodyBytesMax = bytesMax;
    return this.isGone ? "gone" : undefined;
  }

  awaitBody(msMax: number, hasCapacity: (bytes: number) => boolean): Promise<ReceivedBody> {
    if ("expectsContinue" in this.#head && this.#head.expectsContinue) this.#response.writeContinue();
    const parts: Buffer[] = [];
    let bytes = 0;
    return new Promise((resolve) => {
      // A timer because only it can notice that nothing comes.
      const timer = setTimeout(() => this.#settleBody?.({ problem: { kind: "body-too-slow", msMax } }), msMax);
      this.#settleBody = (body) => {
        clearTimeout(timer);
        this.#settleBody = undefined;
        this.#isBodyReceived = body !== "gone" && "bytes" in body;
        resolve(body);
      };
      this.#message.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > this.#bodyBytesMax) this.#settleBody?.({ problem: { kind: "body-too-large", bytesMax: this.#bodyBytesMax } });
        else if (hasCapacity(bytes)) parts.push(part);
        else this.#settleBody?.({ problem: { kind: "no-capacity" } });
      });
      this.#message.once("end", () => this.#settleBody?.({ bytes: Buffer.concat(parts) }));
    });
  }

  failBody(socket: Duplex): void {
    this.#refusedSocket = socket;
    this.#settleBody?.({ problem: { kind: "malformed-chunks" } });
  }

  send(response: TextResponse): void {
    if (this.#refusedSocket !== undefined) {
      this.#refusedSocket.end(lastResponse(response, this.#commonHeaders));
      return;
    }
    const length = hasContent(response.status) ? { "content-length": String(Buffer.byteLength(response.body)) } : {};
    this.#writeHead(response, length);
    this.#response.end(hasContent(response.status) ? response.body : undefined);
  }

  async stream(response: ResponseHead, body: AsyncIterable<Uint8Array> | undefined): Promise<void> {
    this.#writeHead(response, {});
    for await (const part of body ?? []) {
      if (this.isGone) return;
      if (!this.#response.write(part)) await new Promise((resolve) => this.#response.once("drain", resolve).once("close", resolve));
    }
    this.#response.end();
  }

  #writeHead({ status, headers }: ResponseHead, further: Readonly<Record<string, string>>): void {
    this.#response.writeHead(status, { ...headers, ...this.#commonHeaders, ...further, ...(this.isLast ? { connection: "close" } : {}) });
  }

  /** What comes next on the connection waits for `finish` anyway. */
  rest(): void {}

  finish(): void {
    this.isFinished = true;
    if (!this.isLast) this.next?.();
  }

  end(): void {
    this.isFinished = true;
    this.#message.socket.end();
  }

  abort(): void {
    this.#message.socket.resetAndDestroy();
  }

  #close(): void {
    if (!this.#response.writableFinished && this.#refusedSocket === undefined) this.isGone = true;
    this.#settleBody?.("gone");
  }
}
