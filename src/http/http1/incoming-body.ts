/** A body on its way in: of a known length, or in chunks (RFC 9112, 7.1). Nothing above the limit is ever kept. */
import { ChunkedDecoder } from "#kernel/chunked-decoder";
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

class ChunkedBody implements IncomingBody {
  readonly #bytesMax: number;
  readonly #decoder: ChunkedDecoder;
  /** One run of bytes, so that a body in chunks of one byte takes no more memory than another. */
  readonly #body = new ReceiveBuffer();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#decoder = new ChunkedDecoder(bytesMax);
  }

  advance(receiveBuffer: ReceiveBuffer): Advance {
    const bytes = receiveBuffer.unread();
    receiveBuffer.skip(this.#decoder.decode(bytes, (from, to) => this.#body.append(bytes.subarray(from, to))));
    switch (this.#decoder.state) {
      case "open":
        return undefined;
      case "done":
        return { bytes: this.#body.take(this.#body.length) };
      case "malformed":
        return { defect: malformedRequest("The request body is not in valid chunks") };
      case "too-large":
        return { defect: bodyTooLarge(this.#bytesMax) };
    }
  }
}
