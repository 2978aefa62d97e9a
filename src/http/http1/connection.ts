/**
 * One connection of a client: requests arrive one after another, and their responses leave in the same order (RFC 9112, 9.3).
 *
 * **Invariant:** the server reads the next request only if the previous request has certainly ended. If the end of a request is unclear (the body was
 * not received, or two readers could understand the head differently), the server stops reading from the connection, so that no request can be
 * smuggled.
 */
import { type Arriving, AwaitedBody, type BodyEnd, type IncomingBody, incomingBody, type ReceivedBody } from "./incoming-body.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";
import { HeadReader, type ProtocolProblem, type RequestHead } from "./request-head.ts";
import { type PartsReader, type ResponseHead, ResponseWriter, type TextResponse } from "./response-writer.ts";
import { type ByteSocket, type Clock, Reading, SendBuffer, type Turn } from "./send-buffer.ts";

/** The limits that the server sets for each connection. */
export interface ConnectionLimits {
  readonly headBytesMax: number;
  /** The maximum time from the first byte of a request's head, or from the opening of the connection, to the end of the head. */
  readonly headMsMax: number;
  /** The maximum time between two requests, for a response that the client does not read, and between two pieces of a streamed body. */
  readonly keepAliveMs: number;
}

/** The fields and methods of a listener that its connections use. `C` is the type of a connection. */
export interface ConnectionOwner<C> {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Writes the responses of one turn of the event loop together. */
  readonly turn: Turn;
  readonly isStopping: boolean;
  /** The header lines of every response. Each header line includes its line end. */
  readonly commonHeaderLines: string;
  /** Handles a request: sends one response on `connection`, immediately or later, and then calls the connection's `finish`. Never throws. */
  dispatch(head: RequestHead, connection: C): void;
  /** Returns the response to bytes that are not a request. */
  refusal(problem: ProtocolProblem): TextResponse;
  /** The connection calls this method when its `heldBytes` changes; `bytes` is the difference. The owner may abort the connection at once. */
  held(bytes: number): void;
  closed(connection: C): void;
}

/** The event that a connection waits for. A connection that waits for `time` is held back, or lingers before it closes. */
type Waiting = "first request" | "next request" | "head" | "body" | "reader" | "time";

/**
 * `waiting`: the connection waits for a request. `serving`: the connection serves a request. `ending`: the last response is written, and later bytes
 * are discarded.
 */
type State = "waiting" | "serving" | "ending";

/**
 * The maximum number of bytes of later requests that are received while a request is served, or while its response is sent. If more bytes arrive, the
 * server pauses reading from the client.
 */
const AHEAD_MAX = 65_536;
/**
 * The time that a client has to read its last response and to close the connection. If the server closed at once while the client still sends, the
 * client's operating system would discard the response.
 */
const LINGER_MS = 2_000;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** A wait of the connection that ends when any byte arrives. */
const ANY_BYTES: Arriving = { byteCount: 0, advance: (buffer) => (buffer.length > 0 ? { bytes: new Uint8Array() } : undefined) };

export class Connection {
  readonly #socket: ByteSocket;
  readonly #owner: ConnectionOwner<Connection>;
  readonly #reading: Reading;
  readonly #receiveBuffer = new ReceiveBuffer();
  readonly #sendBuffer: SendBuffer;
  readonly #writer: ResponseWriter;
  readonly #headReader: HeadReader;
  #state: State = "waiting";
  /** The time at which the connection's current state began, or at which the first byte of a head arrived. */
  #sinceMs: number;
  #hasServed = false;
  /** Whether the first byte of the next head has arrived. The first byte of the next head may belong to an empty line that was skipped. */
  #hasHeadBegun = false;
  #isReadingRequests = false;
  /** Whether the client may still be sending bytes that the server does not read. */
  #hasUnread = false;
  /** Whether the client has ended its sending side of the connection. A client that has ended its sending side may still read. */
  #hasPeerEnded = false;
  isGone = false;
  readonly remoteAddress: string;
  #unreadBytes = 0;
  /** The number of received bytes that are not read yet, plus the number of written bytes that the client has not accepted yet. */
  heldBytes = 0;

  // The following fields describe the request that the connection currently serves.
  #head: RequestHead | undefined;
  #isBodyReceived = true;
  #body: IncomingBody | undefined;
  #awaited: AwaitedBody | undefined;
  #sent: PartsReader | undefined;
  #isHeldBack = false;

  constructor(socket: ByteSocket, owner: ConnectionOwner<Connection>) {
    this.#socket = socket;
    this.#reading = new Reading(socket);
    this.#owner = owner;
    this.remoteAddress = socket.remoteAddress;
    this.#sendBuffer = new SendBuffer(socket, owner.turn, (bytes) => this.#hold(bytes));
    this.#writer = new ResponseWriter(this.#sendBuffer, owner.clock, owner.commonHeaderLines);
    this.#headReader = new HeadReader(owner.limits.headBytesMax);
    this.#sinceMs = owner.clock.monotonicMs();
  }

  /** The event that the connection waits for; undefined while the server works on a request. */
  get waitsFor(): Waiting | undefined {
    if (!this.#sendBuffer.isEmpty) return "reader";
    if (this.#state === "waiting" && this.#hasHeadBegun) return "head";
    if (this.#state === "waiting") return this.#hasServed ? "next request" : "first request";
    if (this.#awaited !== undefined) return "body";
    return this.#isHeldBack || this.#state === "ending" ? "time" : undefined;
  }

  get waitsSinceMs(): number {
    return this.#sendBuffer.isEmpty ? this.#sinceMs : this.#sendBuffer.sinceMs;
  }

  /** Whether the connection ends after the current request. */
  get isLast(): boolean {
    const isPeerDone = this.#hasPeerEnded && this.#receiveBuffer.length === 0;
    return this.#head?.isKept !== true || !this.#isBodyReceived || isPeerDone || this.#owner.isStopping;
  }

  // The following methods of the connection handle the events of its socket.

  received(bytes: Buffer): void {
    if (this.#state === "ending") return;
    const isHeadNew = this.#state === "waiting" && !this.#hasHeadBegun;
    if (isHeadNew) this.#hasHeadBegun = true;
    this.#receiveBuffer.append(bytes);
    if (this.#state === "waiting") this.#readRequests();
    else this.#awaited?.advance();
    // Nearly every request's head arrives in one piece. If a request's head arrives in one piece, the connection does not wait for more, so it does
    // not read the clock.
    if (isHeadNew && this.#state === "waiting") this.#sinceMs = this.#owner.clock.monotonicMs();
    if (!this.#isReading && this.#receiveBuffer.length > AHEAD_MAX) this.#reading.pause();
    this.#countUnread();
  }

  drained(): void {
    if (this.#sendBuffer.isEmpty) return;
    this.#sendBuffer.drain();
    if (!this.#sendBuffer.isEmpty) return;
    if (this.#state === "ending") this.#close();
    else if (this.#state === "waiting") this.#readOn();
  }

  /**
   * The listener calls this method when the client has ended its sending side. The client still receives the responses to its complete requests. If
   * the body of a request is not complete, the connection is aborted.
   */
  peerEnded(): void {
    this.#hasPeerEnded = true;
    if (this.#awaited !== undefined) this.abort();
    else if (this.#state === "ending") {
      if (this.#sendBuffer.isEmpty) this.#socket.end();
    } else if (this.#state === "waiting") this.#readOn();
  }

  closed(): void {
    this.isGone = true;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#sendBuffer.close();
    this.#countUnread();
    this.#awaited?.end("gone");
    // The source of the response may be waiting for an event that never happens, so the connection cancels the source.
    this.#sent?.cancel().catch(() => {});
    this.#owner.closed(this);
  }

  /** Ends the connection if the client takes longer than the limits allow. */
  checkTime(nowMs: number): void {
    const { headMsMax, keepAliveMs } = this.#owner.limits;
    if (!this.#sendBuffer.isEmpty) {
      if (nowMs - this.#sendBuffer.sinceMs > keepAliveMs) this.abort();
      return;
    }
    const ms = nowMs - this.#sinceMs;
    if (this.#state === "ending") {
      if (ms > LINGER_MS) this.abort();
    } else if (this.#state === "waiting") {
      if (this.#hasHeadBegun) {
        if (ms > headMsMax) this.#refuse({ kind: "head-too-slow", msMax: headMsMax });
      } else if (ms > (this.#hasServed ? keepAliveMs : headMsMax)) this.end();
    }
  }

  /** Ends the connection if the connection serves no request. A server that stops calls this method. */
  endIfIdle(): void {
    if (this.#state === "waiting" && this.#receiveBuffer.length === 0) this.end();
  }

  /** Closes the connection immediately, even in the middle of a response. */
  abort(): void {
    this.#sendBuffer.writeGathered();
    this.#socket.terminate();
  }

  // The following methods receive the heads of requests from the buffer, and the body of the current request.

  /**
   * Whether a head or a body is being read. The socket is not paused while a head or a body is being read, because heads and bodies have their own
   * limits.
   */
  get #isReading(): boolean {
    return this.#awaited !== undefined || (this.#state === "waiting" && this.#sendBuffer.isEmpty);
  }

  #readOn(): void {
    this.#reading.resume();
    if (this.#receiveBuffer.length === 0 && !this.#hasPeerEnded) return;
    // The next request is read only if the client reads the response to the last one.
    this.#sendBuffer.writeGathered();
    this.#readRequests();
  }

  /** Reads requests as long as the buffer has complete heads, each request is finished immediately, and the client reads the responses. */
  #readRequests(): void {
    if (this.#isReadingRequests) return;
    this.#isReadingRequests = true;
    while (this.#state === "waiting" && this.#receiveBuffer.length > 0 && this.#sendBuffer.isEmpty) {
      const head = this.#headReader.read(this.#receiveBuffer);
      if (head === undefined) break;
      if ("kind" in head) this.#refuse(head);
      else this.#dispatch(head);
    }
    this.#isReadingRequests = false;
    this.#countUnread();
    if (this.#hasPeerEnded && this.#state === "waiting" && this.#sendBuffer.isEmpty) this.end();
  }

  #dispatch(head: RequestHead): void {
    this.#head = head;
    this.#isBodyReceived = head.framing === 0;
    this.#state = "serving";
    this.#owner.dispatch(head, this);
  }

  /**
   * Returns the body if it arrived together with the head, as most bodies do, or the problem if the body is refused. Returns undefined if the caller
   * has to wait for the body.
   */
  receiveBody(bytesMax: number): ReceivedBody | undefined {
    this.#body = incomingBody(this.#head?.framing ?? 0, bytesMax);
    const end = this.#body.advance(this.#receiveBuffer);
    if (end !== undefined) return this.#bodyEnded(end);
    if (!this.#hasPeerEnded && !this.isGone) return undefined;
    this.abort();
    return "gone";
  }

  /** Waits for a body that `receiveBody` did not return. The method calls `hasCapacity` with the number of bytes that have arrived. */
  async awaitBody(msMax: number, hasCapacity: (bytes: number) => boolean): Promise<ReceivedBody> {
    this.#sendContinue();
    const body = await this.#await(this.#body as IncomingBody, msMax, hasCapacity);
    return body === "gone" ? body : this.#bodyEnded(body);
  }

  /**
   * Yields the body as it arrives. The body is read only as fast as the caller takes the pieces; if the caller is slow, the client has to wait.
   * Returns the problem if the body does not end properly.
   */
  async *bodyPieces(): AsyncGenerator<Uint8Array, ProtocolProblem | "gone" | undefined> {
    const body = incomingBody(this.#head?.framing ?? 0, Number.POSITIVE_INFINITY);
    this.#body = body;
    this.#sendContinue();
    while (this.#state === "serving") {
      const piece = body.takePiece(this.#receiveBuffer);
      this.#countUnread();
      if ("problem" in piece) return piece.problem;
      this.#isBodyReceived = piece.isLast;
      if (piece.bytes.length > 0) yield piece.bytes;
      if (piece.isLast) return undefined;
      const more = await this.#await(ANY_BYTES, this.#owner.limits.keepAliveMs, () => true);
      if (more === "gone") return more;
      if ("problem" in more) return more.problem;
    }
    return "gone";
  }

  #await(body: Arriving, msMax: number, hasCapacity: (bytes: number) => boolean): Promise<ReceivedBody> {
    this.#sinceMs = this.#owner.clock.monotonicMs();
    this.#reading.resume();
    return new Promise((resolve) => {
      const ended = (end: ReceivedBody): void => {
        this.#awaited = undefined;
        resolve(end);
      };
      this.#awaited = new AwaitedBody(body, this.#receiveBuffer, { msMax, hasCapacity, ended });
      if (this.#hasPeerEnded) this.abort();
      else this.#awaited.advance();
    });
  }

  #sendContinue(): void {
    if (this.#head?.expectsContinue === true) this.#sendBuffer.writeText(CONTINUE, CONTINUE.length);
  }

  /**
   * Reads a small request body that the handler of the request did not read, if the body has arrived. The connection can serve further requests only
   * if the body was read.
   */
  skipBody(): void {
    if (this.#body === undefined && !this.#isBodyReceived) this.receiveBody(AHEAD_MAX);
  }

  #bodyEnded(end: BodyEnd): BodyEnd {
    this.#isBodyReceived = "bytes" in end;
    return end;
  }

  #countUnread(): void {
    const more = this.#receiveBuffer.length - this.#unreadBytes;
    if (more === 0) return;
    this.#unreadBytes += more;
    this.#hold(more);
  }

  #hold(bytes: number): void {
    this.heldBytes += bytes;
    this.#owner.held(bytes);
  }

  // The following methods send the response to the current request.

  send(response: TextResponse): void {
    this.#writer.send(this.#head, response, this.isLast);
  }

  /** Sends the body part by part, only as fast as the client reads it. Cancels the source of the body if the client does not read to the end. */
  async stream(response: ResponseHead, body: { getReader(): PartsReader } | undefined): Promise<void> {
    const reader = body?.getReader();
    this.#sent = reader;
    try {
      await this.#writer.stream(this.#head, response, reader, this.isLast);
    } finally {
      this.#sent = undefined;
      await reader?.cancel();
    }
  }

  get hasBegunResponse(): boolean {
    return this.#writer.hasBegun;
  }

  holdBack(): void {
    this.#isHeldBack = true;
    this.#sinceMs = this.#owner.clock.monotonicMs();
  }

  /** Ends the current request after its response, so that the connection may read the next request. */
  finish(): void {
    if (this.isGone) return;
    this.#isHeldBack = false;
    const isLast = this.#writer.isLast || this.isLast;
    this.#head = undefined;
    this.#body = undefined;
    this.#hasServed = true;
    this.#writer.hasBegun = false;
    if (isLast) {
      this.end();
      return;
    }
    this.#state = "waiting";
    this.#hasHeadBegun = this.#receiveBuffer.length > 0;
    this.#sinceMs = this.#owner.clock.monotonicMs();
    this.#readOn();
  }

  #refuse(problem: ProtocolProblem): void {
    this.#hasUnread = true;
    this.send(this.#owner.refusal(problem));
    this.end();
  }

  // The following methods of the class end the connection.

  /** Ends the connection after the written bytes are sent, even if the response is not complete. */
  end(): void {
    if (this.#state === "ending") return;
    this.#hasUnread ||= this.#receiveBuffer.length > 0 || !this.#isBodyReceived;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#reading.resume();
    this.#sendBuffer.writeGathered();
    if (this.#sendBuffer.isEmpty) this.#close();
  }

  /**
   * Closes the connection. If the client may still be sending, the server first ends only its own side of the connection, and discards the client's
   * bytes until the client closes too.
   */
  #close(): void {
    this.#sinceMs = this.#owner.clock.monotonicMs();
    if (this.#hasPeerEnded || !this.#hasUnread) this.#socket.end();
    else this.#socket.shutdown();
  }
}
