/** A request body that is arriving, either with a known length or in chunks. The bytes of a body beyond the limit are never stored. */
import { ChunkedDecoder } from "#kernel/chunked-decoder";
import { ReceiveBuffer } from "./receive-buffer.ts";
import type { ProtocolProblem, RequestHead } from "./request-head.ts";

export type BodyEnd = { readonly bytes: Uint8Array } | { readonly problem: ProtocolProblem };
/** The next piece of a body that has arrived, or the problem of the body. */
type BodyPiece = { readonly bytes: Uint8Array; readonly isLast: boolean } | { readonly problem: ProtocolProblem };

export interface Arriving {
  /** Takes the bytes of the body from `buffer`. Returns undefined as long as the request body is not complete. */
  advance(buffer: ReceiveBuffer): BodyEnd | undefined;
  /** The number of bytes of the body that were taken from the buffer so far. */
  readonly byteCount: number;
}

export interface IncomingBody extends Arriving {
  /** If the body is streamed, takes the bytes that have arrived. */
  takePiece(buffer: ReceiveBuffer): BodyPiece;
}

export const incomingBody = (framing: RequestHead["framing"], bytesMax: number): IncomingBody =>
  framing === "chunked" ? new ChunkedBody(bytesMax) : new SizedBody(framing, bytesMax);

class SizedBody implements IncomingBody {
  /** The number of taken bytes stays 0, because the whole body is taken from the buffer when it is complete. */
  readonly byteCount = 0;
  readonly #size: number;
  readonly #bytesMax: number;
  #left: number;

  constructor(size: number, bytesMax: number) {
    this.#size = size;
    this.#left = size;
    this.#bytesMax = bytesMax;
  }

  advance(buffer: ReceiveBuffer): BodyEnd | undefined {
    if (this.#size > this.#bytesMax) return { problem: { kind: "body-too-large", bytesMax: this.#bytesMax } };
    return buffer.length < this.#size ? undefined : { bytes: buffer.take(this.#size) };
  }

  takePiece(buffer: ReceiveBuffer): BodyPiece {
    const bytes = buffer.take(Math.min(this.#left, buffer.length));
    this.#left -= bytes.length;
    return { bytes, isLast: this.#left === 0 };
  }
}

class ChunkedBody implements IncomingBody {
  readonly #bytesMax: number;
  readonly #decoder: ChunkedDecoder;
  /** The body in one contiguous buffer, so that a request body in chunks of one byte takes no more memory than any other body. */
  readonly #body = new ReceiveBuffer();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#decoder = new ChunkedDecoder(bytesMax);
  }

  get byteCount(): number {
    return this.#body.length;
  }

  advance(buffer: ReceiveBuffer): BodyEnd | undefined {
    const bytes = buffer.unread();
    buffer.skip(this.#decoder.decode(bytes, (from, to) => this.#body.append(bytes.subarray(from, to))));
    switch (this.#decoder.state) {
      case "open":
        return undefined;
      case "done":
        return { bytes: this.#body.take(this.#body.length) };
      case "malformed":
        return { problem: { kind: "malformed-chunks" } };
      case "too-large":
        return { problem: { kind: "body-too-large", bytesMax: this.#bytesMax } };
    }
  }

  takePiece(buffer: ReceiveBuffer): BodyPiece {
    const end = this.advance(buffer) ?? { bytes: this.#body.take(this.#body.length), isLast: false };
    return { isLast: true, ...end };
  }
}

/**
 * The whole request body or the problem of the body. `gone` means that the client closed the connection, or ended its side of the connection before
 * the end of the body.
 */
export type ReceivedBody = BodyEnd | "gone";

interface AwaitedBodyOptions {
  readonly msMax: number;
  /** Whether the server may store this number of bytes of the request body. */
  hasCapacity(bytes: number): boolean;
  /** This function is called once, with the body or with the problem of the body. */
  ended(body: ReceivedBody): void;
}

export class AwaitedBody {
  readonly #body: Arriving;
  readonly #buffer: ReceiveBuffer;
  readonly #options: AwaitedBodyOptions;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(body: Arriving, buffer: ReceiveBuffer, options: AwaitedBodyOptions) {
    this.#body = body;
    this.#buffer = buffer;
    this.#options = options;
    const { msMax } = options;
    // A timer enforces the time limit of a body, because no event happens while no bytes arrive. A client must not occupy memory for long by sending
    // its body slowly.
    this.#timer = setTimeout(() => this.end({ problem: { kind: "body-too-slow", msMax } }), msMax);
  }

  /** The connection calls this method when the buffer may have more bytes of the body. */
  advance(): void {
    if (!this.#options.hasCapacity(this.#body.byteCount + this.#buffer.length)) {
      this.end({ problem: { kind: "no-capacity" } });
      return;
    }
    const end = this.#body.advance(this.#buffer);
    if (end !== undefined) this.end(end);
  }

  end(body: ReceivedBody): void {
    clearTimeout(this.#timer);
    this.#options.ended(body);
  }
}
