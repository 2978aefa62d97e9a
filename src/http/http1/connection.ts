/**
 * One connection of a client: requests arrive on it one after the other, and the responses leave in the same order (RFC 9112, 9.3).
 *
 * **Invariant:** the next request is looked for only where the one before it has certainly ended. Where that is unclear (a body
 * that was not received, a head that two readers could understand differently) nothing more is read: no request can be smuggled.
 */
import type { ByteSocket } from "./byte-socket.ts";
import type { Clock } from "./clock.ts";
import { HeadReader } from "./head-reader.ts";
import { type BodyEnd, type IncomingBody, incomingBody } from "./incoming-body.ts";
import type { ProtocolProblem } from "./problem.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";
import type { RequestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-head.ts";
import { ResponseWriter, type TextResponse } from "./response-writer.ts";
import { SendBuffer } from "./send-buffer.ts";

export interface ConnectionLimits {
  readonly headBytesMax: number;
  /** From the first byte of a head, or the opening of the connection, to the end of the head. */
  readonly headMsMax: number;
  /** Between two requests, and for a response that the client does not read. */
  readonly keepAliveMs: number;
}

/** The server that a connection belongs to. */
export interface ConnectionOwner {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly isStopping: boolean;
  /** Header lines that every response has, each with its line end. */
  readonly commonHeaderLines: string;
  /** Handles a request: sends one response on `connection`, now or later, and then calls `finish`. Never throws. */
  dispatch(head: RequestHead, connection: Connection): void;
  /** The response to bytes that are no request. */
  refusal(problem: ProtocolProblem): TextResponse;
  closed(connection: Connection): void;
}

/** `gone`: the client has closed, or has ended its side before the end of the body. */
export type ReceivedBody = BodyEnd | "gone";

/** `waiting` for a request, `serving` one, or `ending`: the last response is out, and further bytes are thrown away. */
type State = "waiting" | "serving" | "ending";

/** Bytes of further requests that are received while one is served; then the client waits. */
const AHEAD_MAX = 65_536;
/**
 * How long a client has to read its last response and close. Closing at once, while the client still sends, would make its
 * system throw the response away.
 */
const LINGER_MS = 2_000;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

export class Connection {
  readonly #socket: ByteSocket;
  readonly #owner: ConnectionOwner;
  readonly #receiveBuffer = new ReceiveBuffer();
  readonly #sendBuffer: SendBuffer;
  readonly #writer: ResponseWriter;
  readonly #headReader: HeadReader;
  #state: State = "waiting";
  /** When the state, or a head's first byte, began. */
  #sinceMs: number;
  #hasServed = false;
  /** The first byte of the next head is there, though it may be of an empty line that was skipped. */
  #hasHeadBegun = false;
  #isReadingRequests = false;
  #isPaused = false;
  /** The client may be sending bytes that nobody reads. */
  #hasUnread = false;
  /** The client sends no more; it may still read. */
  #hasPeerEnded = false;
  isGone = false;

  // Of the request that is served.
  #head: RequestHead | undefined;
  #isBodyReceived = true;
  #body: IncomingBody | undefined;
  #settleBody: ((body: ReceivedBody) => void) | undefined;

  constructor(socket: ByteSocket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#sendBuffer = new SendBuffer(socket, owner.clock);
    this.#writer = new ResponseWriter(this.#sendBuffer, owner.clock, owner.commonHeaderLines);
    this.#headReader = new HeadReader(owner.limits.headBytesMax);
    this.#sinceMs = owner.clock.monotonicMs();
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  /** The connection cannot be used after the request that is served. */
  get isLast(): boolean {
    const isPeerDone = this.#hasPeerEnded && this.#receiveBuffer.length === 0;
    return this.#head?.isKept !== true || !this.#isBodyReceived || isPeerDone || this.#owner.isStopping;
  }

  // Events of the socket.

  received(bytes: Buffer): void {
    if (this.#state === "ending") return;
    if (this.#state === "waiting" && !this.#hasHeadBegun) {
      this.#hasHeadBegun = true;
      this.#sinceMs = this.#owner.clock.monotonicMs();
    }
    this.#receiveBuffer.append(bytes);
    if (this.#state === "waiting") this.#readRequests();
    else if (this.#settleBody !== undefined) this.#advanceBody();
    if (this.#settleBody === undefined && this.#receiveBuffer.length > AHEAD_MAX) this.#pause();
  }

  drained(): void {
    if (this.#sendBuffer.isEmpty) return;
    this.#sendBuffer.drain();
    if (!this.#sendBuffer.isEmpty) return;
    if (this.#state === "ending") this.#close();
    else if (this.#state === "waiting") this.#readOn();
  }

  /** A client that has ended its side still receives the responses to its complete requests; a truncated body aborts. */
  peerEnded(): void {
    this.#hasPeerEnded = true;
    if (this.#settleBody !== undefined) this.abort();
    else if (this.#state === "ending") {
      if (this.#sendBuffer.isEmpty) this.#socket.end();
    } else if (this.#state === "waiting") this.#readOn();
  }

  closed(): void {
    this.isGone = true;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#sendBuffer.close();
    this.#settleBody?.("gone");
    this.#owner.closed(this);
  }

  /** Ends the connection where the client takes too long. */
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

  /** For a server that stops. */
  endIfIdle(): void {
    if (this.#state === "waiting" && this.#receiveBuffer.length === 0) this.end();
  }

  /** Closes at once, whatever is under way. */
  abort(): void {
    this.#socket.terminate();
  }

  // Receiving: heads from the buffer, and the body of the request that is served.

  #readOn(): void {
    this.#resume();
    if (this.#receiveBuffer.length > 0 || this.#hasPeerEnded) this.#readRequests();
  }

  /** Goes on as long as complete heads are there, requests are served at once, and the client reads the responses. */
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
    if (this.#hasPeerEnded && this.#state === "waiting" && this.#sendBuffer.isEmpty) this.end();
  }

  #dispatch(head: RequestHead): void {
    this.#head = head;
    this.#isBodyReceived = head.framing === 0;
    this.#state = "serving";
    this.#owner.dispatch(head, this);
  }

  /** The body, where it has arrived with the head, as most do, or is refused. Undefined where it has to be waited for. */
  receiveBody(bytesMax: number): ReceivedBody | undefined {
    this.#body = incomingBody(this.#head?.framing ?? 0, bytesMax);
    const end = this.#body.advance(this.#receiveBuffer);
    if (end !== undefined) return this.#bodyEnded(end);
    if (!this.#hasPeerEnded && !this.isGone) return undefined;
    this.abort();
    return "gone";
  }

  /** The rest of a body that `receiveBody` did not give. */
  awaitBody(msMax: number): Promise<ReceivedBody> {
    if (this.#head?.expectsContinue === true) this.#sendBuffer.writeText(CONTINUE, CONTINUE.length);
    return new Promise((resolve) => {
      // A timer because only it can notice that nothing comes; a client must not hold memory by sending slowly.
      const timer = setTimeout(() => this.#settleBody?.({ problem: { kind: "body-too-slow", msMax } }), msMax);
      this.#settleBody = (body) => {
        clearTimeout(timer);
        this.#settleBody = undefined;
        resolve(body === "gone" ? body : this.#bodyEnded(body));
      };
    });
  }

  #advanceBody(): void {
    const end = this.#body?.advance(this.#receiveBuffer);
    if (end !== undefined) this.#settleBody?.(end);
  }

  #bodyEnded(end: BodyEnd): BodyEnd {
    this.#isBodyReceived = "bytes" in end;
    return end;
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  // Sending: the response to the request that is served.

  send(response: TextResponse): void {
    this.#writer.send(this.#head, response, this.isLast);
  }

  stream(response: ResponseHead, body: AsyncIterable<Uint8Array> | undefined): Promise<void> {
    return this.#writer.stream(this.#head, response, body, this.isLast);
  }

  get hasBegunResponse(): boolean {
    return this.#writer.hasBegun;
  }

  /** After the response: the next request may be read. */
  finish(): void {
    if (this.isGone) return;
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

  // Ending.

  /** The connection ends after what is being sent, be it a whole response or not. */
  end(): void {
    if (this.#state === "ending") return;
    this.#hasUnread ||= this.#receiveBuffer.length > 0 || !this.#isBodyReceived;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#resume();
    if (this.#sendBuffer.isEmpty) this.#close();
  }

  /** A client that may still be sending reads the end first; its bytes are thrown away until it closes, too. */
  #close(): void {
    this.#sinceMs = this.#owner.clock.monotonicMs();
    if (this.#hasPeerEnded || !this.#hasUnread) this.#socket.end();
    else this.#socket.shutdown();
  }
}
