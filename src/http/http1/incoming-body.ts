/** A body on its way in: of a known length, or in chunks (RFC 9112, 7.1). Nothing above the limit is ever kept. */
import { bodyTooLarge, type GraphError, malformedRequest } from "#kernel/errors";
import type { RequestHead } from "./head.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";

/** Undefined while more has to come. */
export type Advance = { readonly bytes: Uint8Array } | { readonly defect: GraphError } | undefined;

export interface IncomingBody {
  advance(receiveBuffer: ReceiveBuffer): Advance;
}

export const incomingBody = (framing: RequestHead["framing"], bytesMax: number): IncomingBody =>
  framing === "chunked" ? new ChunkedBody(bytesMax) : new SizedBody(framing, bytesMax);

class SizedBody implements IncomingBody {
  readonly #size: number;
  readonly #bytesMax: number;

  constructor(size: number, bytesMax: number) {
    this.#size = size;
    this.#bytesMax = bytesMax;
  }

  advance(receiveBuffer: ReceiveBuffer): Advance {
    if (this.#size > this.#bytesMax) return { defect: bodyTooLarge(this.#bytesMax) };
    return receiveBuffer.length < this.#size ? undefined : { bytes: receiveBuffer.take(this.#size) };
  }
}

/** A size in up to 8 hexadecimal digits, and extensions, which nobody uses and which say nothing here. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
/** Of a size with its extensions. */
const SIZE_LINE_MAX = 256;
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Of all trailers; they are read over. */
const TRAILERS_MAX = 8_192;

const malformed = (): Advance => ({ defect: malformedRequest("The request body is not in valid chunks") });

class ChunkedBody implements IncomingBody {
  readonly #bytesMax: number;
  /** One run of bytes, so that a body in chunks of one byte takes no more memory than another. */
  readonly #taken = new ReceiveBuffer();
  /** Of the running chunk; undefined where a size line comes next. */
  #left: number | undefined;
  #isPastLast = false;
  #trailerBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  advance(receiveBuffer: ReceiveBuffer): Advance {
    for (;;) {
      const step = this.#isPastLast
        ? this.#readTrailer(receiveBuffer)
        : this.#left === undefined
          ? this.#readSize(receiveBuffer)
          : this.#readData(receiveBuffer, this.#left);
      if (step !== "on") return step;
    }
  }

  #readSize(receiveBuffer: ReceiveBuffer): Advance | "on" {
    const line = lineOf(receiveBuffer, SIZE_LINE_MAX);
    if (line === undefined) return undefined;
    const size = line === "broken" ? undefined : SIZE_LINE.exec(line)?.[1];
    if (size === undefined) return malformed();
    this.#left = Number.parseInt(size, 16);
    if (this.#taken.length + this.#left > this.#bytesMax) return { defect: bodyTooLarge(this.#bytesMax) };
    if (this.#left === 0) this.#isPastLast = true;
    return "on";
  }

  #readData(receiveBuffer: ReceiveBuffer, left: number): Advance | "on" {
    if (left > 0) {
      const part = receiveBuffer.take(Math.min(left, receiveBuffer.length));
      if (part.length === 0) return undefined;
      this.#taken.append(part);
      this.#left = left - part.length;
      return "on";
    }
    if (receiveBuffer.length < 2) return undefined;
    if (receiveBuffer.byteAt(0) !== 13 || receiveBuffer.byteAt(1) !== 10) return malformed();
    receiveBuffer.skip(2);
    this.#left = undefined;
    return "on";
  }

  #readTrailer(receiveBuffer: ReceiveBuffer): Advance | "on" {
    const line = lineOf(receiveBuffer, TRAILERS_MAX - this.#trailerBytes);
    if (line === undefined) return undefined;
    if (line === "") return { bytes: this.#taken.take(this.#taken.length) };
    if (line === "broken" || !TRAILER_LINE.test(line)) return malformed();
    this.#trailerBytes += line.length;
    return "on";
  }
}

/** The next line without its end; undefined while it is not whole, `"broken"` when it is too long or ends in half a line break. */
function lineOf(receiveBuffer: ReceiveBuffer, bytesMax: number): string | undefined {
  const end = receiveBuffer.indexOf("\r\n", 0);
  if (end > bytesMax || (end === -1 && receiveBuffer.length > bytesMax + 1)) return "broken";
  if (end === -1) return receiveBuffer.indexOf("\n", 0) === -1 ? undefined : "broken";
  const line = receiveBuffer.text(0, end);
  receiveBuffer.skip(end + 2);
  return line;
}
