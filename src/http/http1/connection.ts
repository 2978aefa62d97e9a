/**
 * One connection of a caller: calls come in on it one after the other and are answered in that order (RFC 9112, 9.3).
 *
 * **Invariant:** the next request is looked for only where the one before it has ended for certain. Where that is unclear (a body
 * that was not taken, a head that two readers could understand differently) nothing more is read: no request can be smuggled.
 */
import type { Socket } from "bun";
import { type GraphError, headersTooLarge, malformedRequest, overloaded, requestTooSlow } from "#kernel/errors";
import { monotonicMs } from "#system";
import { type HttpLimits, parserHeaderBytesMax } from "../limits.ts";
import { type HeadProblem, HeadReader, isHopeless, type RequestHead } from "./head.ts";
import { type Advance, type IncomingBody, incomingBody } from "./incoming-body.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";
import { SendBuffer } from "./send-buffer.ts";

/** What a connection asks of the server that it belongs to. */
export interface ConnectionOwner {
  readonly limits: HttpLimits;
  readonly isStopping: boolean;
  /** Answers on `connection`, now or later, and calls `answered` once. Never throws. */
  take(head: RequestHead, connection: Connection): void;
  /** The whole response to what was no request. */
  refusal(error: GraphError): string;
  forget(connection: Connection): void;
}

export type Received = NonNullable<Advance> | "gone";

/** `waiting` for a request, `answering` one, or `ending`: the last response is out and what still comes is thrown away. */
type State = "waiting" | "answering" | "ending";

/** Bytes of further calls that are taken in while one is answered; then the caller waits. */
const AHEAD_MAX = 65_536;
/**
 * How long a caller has to read his last response and close. Closing at once would, where he is still sending, make his system
 * throw the response away.
 */
const LINGER_MS = 2_000;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

export class Connection {
  readonly #socket: Socket<unknown>;
  readonly #owner: ConnectionOwner;
  readonly #receiveBuffer = new ReceiveBuffer();
  readonly #sendBuffer: SendBuffer;
  #state: State = "waiting";
  /** When the state, or a head's first byte, began; or when bytes last went out. */
  #sinceMs = monotonicMs();
  #hasServed = false;
  /** Of a head that is not complete: how far it was searched. */
  #searched = 0;
  #head: RequestHead | undefined;
  readonly #heads = new HeadReader();
  #isBodyTaken = true;
  #body: { readonly incoming: IncomingBody; settle(received: Received): void } | undefined;
  #isReading = false;
  #isPaused = false;
  /** The caller may be sending what nobody reads. */
  #isUnread = false;
  /** The caller sends no more; he may still read. */
  #hasPeerEnded = false;
  isGone = false;
  /** Part of the running request's answer is out. */
  hasBegunResponse = false;

  constructor(socket: Socket<unknown>, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#sendBuffer = new SendBuffer(socket);
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  /** The connection cannot be used after the call that is being answered. */
  get isLast(): boolean {
    const isPeerDone = this.#hasPeerEnded && this.#receiveBuffer.length === 0;
    return this.#head?.isKept !== true || !this.#isBodyTaken || isPeerDone || this.#owner.isStopping;
  }

  /** The caller of the running request cannot read chunks. */
  get isHttp10(): boolean {
    return this.#head?.isHttp10 === true;
  }

  // What the socket tells.

  came(bytes: Buffer): void {
    if (this.#state === "ending") return;
    if (this.#state === "waiting" && this.#receiveBuffer.length === 0) this.#sinceMs = monotonicMs();
    this.#receiveBuffer.append(bytes);
    if (this.#state === "waiting") this.#readRequests();
    else if (this.#body !== undefined) this.#advanceBody();
    if (this.#body === undefined && this.#receiveBuffer.length > AHEAD_MAX) this.#pause();
  }

  drained(): void {
    if (this.#sendBuffer.isEmpty) return;
    if (this.#sendBuffer.drain()) this.#sinceMs = monotonicMs();
    if (!this.#sendBuffer.isEmpty) return;
    if (this.#state === "ending") this.#finish();
    else if (this.#state === "waiting") this.#readOn();
  }

  /** He may still read what he has asked for, but a body that breaks off was not meant. */
  peerEnded(): void {
    this.#hasPeerEnded = true;
    if (this.#body !== undefined) this.cut();
    else if (this.#state === "ending") {
      if (this.#sendBuffer.isEmpty) this.#socket.end();
    } else if (this.#state === "waiting") this.#readOn();
  }

  closed(): void {
    this.isGone = true;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#sendBuffer.discard();
    this.#body?.settle("gone");
    this.#owner.forget(this);
  }

  /** Ends what takes too long. */
  check(nowMs: number): void {
    const { headMsMax, keepAliveMs } = this.#owner.limits;
    const ms = nowMs - this.#sinceMs;
    if (this.#state === "ending") {
      if (ms > LINGER_MS && (this.#sendBuffer.isEmpty || ms > keepAliveMs)) this.cut();
    } else if (!this.#sendBuffer.isEmpty) {
      if (ms > keepAliveMs) this.cut();
    } else if (this.#state === "waiting") {
      if (this.#receiveBuffer.length > 0) {
        if (ms > headMsMax) this.#refuse(requestTooSlow(headMsMax));
      } else if (ms > (this.#hasServed ? keepAliveMs : headMsMax)) this.end();
    }
  }

  /** The server stops: who is between two requests is let go. */
  release(): void {
    if (this.#state === "waiting" && this.#receiveBuffer.length === 0) this.end();
  }

  /** Whatever is under way. */
  cut(): void {
    this.#socket.terminate();
  }

  // What the running request does.

  /** Its body, whole. At once where it has come with the head, as most do; else it is refused where the request may not wait for it. */
  receiveBody(bytesMax: number, msMax: number, mayWait: boolean): Received | Promise<Received> {
    const incoming = incomingBody(this.#head?.framing ?? 0, bytesMax);
    const atOnce = incoming.advance(this.#receiveBuffer);
    if (atOnce !== undefined) return this.#taken(atOnce);
    if (this.#hasPeerEnded || this.isGone) return "gone";
    if (!mayWait) return this.#taken({ defect: overloaded(1) });
    return new Promise((resolve) => {
      const settle = (received: Received): void => {
        clearTimeout(timer);
        this.#body = undefined;
        resolve(received === "gone" ? received : this.#taken(received));
      };
      // A timer because only it can notice that nothing comes; a caller must not hold memory by sending slowly.
      const timer = setTimeout(() => settle({ defect: requestTooSlow(msMax) }), msMax);
      this.#body = { incoming, settle };
    });
  }

  writeContinue(): void {
    this.#sendBuffer.writeText(CONTINUE, CONTINUE.length);
  }

  /** `size` is that of the text in UTF-8. */
  writeText(text: string, size: number): void {
    if (this.isGone) return;
    this.#sendBuffer.writeText(text, size);
    if (!this.#sendBuffer.isEmpty) this.#sinceMs = monotonicMs();
  }

  /** Resolves when the caller has room for more, or is gone. */
  writeBytes(bytes: Uint8Array): Promise<void> {
    if (this.isGone) return Promise.resolve();
    this.#sendBuffer.writeBytes(bytes);
    if (!this.#sendBuffer.isEmpty) this.#sinceMs = monotonicMs();
    return this.#sendBuffer.emptied();
  }

  /** The response is written; `isLast` is what its head says. */
  responded(isLast: boolean): void {
    if (this.isGone) return;
    this.#head = undefined;
    this.#hasServed = true;
    this.hasBegunResponse = false;
    if (isLast) {
      this.end();
      return;
    }
    this.#state = "waiting";
    this.#sinceMs = monotonicMs();
    this.#readOn();
  }

  /** After what is being written the connection ends. */
  end(): void {
    if (this.#state === "ending") return;
    this.#isUnread ||= this.#receiveBuffer.length > 0 || !this.#isBodyTaken;
    this.#state = "ending";
    this.#receiveBuffer.clear();
    this.#resume();
    if (this.#sendBuffer.isEmpty) this.#finish();
  }

  /** Where the caller may still be sending he reads the end first, and what comes is thrown away until he closes, too. */
  #finish(): void {
    this.#sinceMs = monotonicMs();
    if (this.#hasPeerEnded || !this.#isUnread) this.#socket.end();
    else this.#socket.shutdown();
  }

  #taken(advance: NonNullable<Advance>): Received {
    this.#isBodyTaken = "bytes" in advance;
    return advance;
  }

  #advanceBody(): void {
    const advance = this.#body?.incoming.advance(this.#receiveBuffer);
    if (advance !== undefined) this.#body?.settle(advance);
  }

  #readOn(): void {
    this.#resume();
    if (this.#receiveBuffer.length > 0 || this.#hasPeerEnded) this.#readRequests();
  }

  /** Call after call, as far as they are there, are answered at once, and the responses are read. */
  #readRequests(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#state === "waiting" && this.#receiveBuffer.length > 0 && this.#sendBuffer.isEmpty) {
      const head = this.#readHead();
      if (head === undefined) break;
      if (typeof head === "string") this.#refuse(malformedRequest(`The request is not valid HTTP: ${head}`));
      else if (head.method === "CONNECT") this.#refuse(malformedRequest("CONNECT is not supported: this is no proxy"));
      else {
        this.#head = head;
        this.#isBodyTaken = head.framing === 0;
        this.#state = "answering";
        this.#owner.take(head, this);
      }
    }
    this.#isReading = false;
    if (this.#hasPeerEnded && this.#state === "waiting" && this.#sendBuffer.isEmpty) this.end();
  }

  /** Undefined while it is not complete, or was refused for its size. */
  #readHead(): RequestHead | HeadProblem | undefined {
    const receiveBuffer = this.#receiveBuffer;
    // RFC 9112, 2.2: an empty line before a request is overlooked; old clients send one behind a body.
    while (receiveBuffer.byteAt(0) === 13 && receiveBuffer.byteAt(1) === 10) {
      receiveBuffer.skip(2);
      this.#searched = 0;
    }
    const end = receiveBuffer.indexOf("\r\n\r\n", Math.max(0, this.#searched - 3));
    const bytesMax = parserHeaderBytesMax(this.#owner.limits);
    if (end > bytesMax || (end === -1 && receiveBuffer.length > bytesMax)) {
      this.#refuse(headersTooLarge(this.#owner.limits.headerBytesMax));
      return undefined;
    }
    if (end === -1) {
      const isBroken = isHopeless(receiveBuffer.text(Math.max(0, this.#searched - 1), receiveBuffer.length));
      this.#searched = receiveBuffer.length;
      return isBroken ? "it has characters that no head has" : undefined;
    }
    const text = receiveBuffer.text(0, end);
    receiveBuffer.skip(end + 4);
    this.#searched = 0;
    return this.#heads.read(text);
  }

  #refuse(error: GraphError): void {
    this.#isUnread = true;
    const text = this.#owner.refusal(error);
    this.#sendBuffer.writeText(text, Buffer.byteLength(text));
    this.end();
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
}
