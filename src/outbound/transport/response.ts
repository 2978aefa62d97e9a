/**
 * Reads one HTTP/1.1 response from the bytes of a connection (RFC 9112). The reader refuses every response in which two lenient readers could see
 * different responses. A body that is longer than a limit is cut, and a connection with a cut body is not used again.
 */

import { ChunkedDecoder } from "#kernel/chunked-decoder";
import type { TakeBody } from "../request.ts";

/** The greatest number of bytes of a status line with its headers. The responses of webhook receivers have much shorter headers. */
const HEAD_BYTES_MAX = 32 * 1024;
/** The greatest number of 1xx responses before the final response. */
const INTERIM_MAX = 8;

export class MalformedResponse extends Error {
  constructor(problem: string) {
    super(`the response is not valid HTTP: ${problem}`);
    this.name = "MalformedResponse";
  }
}

type Framing =
  | { readonly kind: "none" | "until-close" }
  | { readonly kind: "chunked"; readonly decoder: ChunkedDecoder }
  | { readonly kind: "length"; left: number };

/**
 * The limit that the decoder of chunked bodies gets. The decoder would refuse a body above its limit, so the reader itself cuts the body before that.
 */
const BODY_UNLIMITED = Number.POSITIVE_INFINITY;

const NOTHING: Framing = { kind: "none" };

export class ResponseReader {
  status = 0;
  #framing: Framing = NOTHING;
  #rest: Buffer | undefined;
  #hasHead = false;
  #interim = 0;
  readonly #bodyBytesMax: number;
  readonly #body: Buffer[] = [];
  readonly #takeBody: TakeBody | undefined;
  #taking: Promise<void> | undefined;
  #bodyBytes = 0;
  /** Whether the response body was longer than the limit, so that the rest of the body was dropped. */
  isCut = false;
  isDone = false;
  hasBegun = false;
  /** Whether the connection can carry another request after this response. */
  isReusable = false;

  constructor(bodyBytesMax: number, takeBody?: TakeBody) {
    this.#bodyBytesMax = bodyBytesMax;
    this.#takeBody = takeBody;
  }

  /**
   * A promise that is pending while `takeBody` is busy. The caller must not call `feed` while this promise is pending. Rejects if `takeBody` rejects.
   */
  get taking(): Promise<void> | undefined {
    return this.#taking;
  }

  /** The response body, up to the limit for its bytes. */
  body(): Buffer {
    return this.#body.length === 1 ? (this.#body[0] as Buffer) : Buffer.concat(this.#body);
  }

  /**
   * Reads the next bytes from the connection. Throws `MalformedResponse`. If bytes follow after the end of the response, the connection cannot be
   * used again.
   */
  feed(given: Buffer): void {
    this.hasBegun = true;
    const bytes = this.#rest === undefined ? given : Buffer.concat([this.#rest, given]);
    this.#rest = undefined;
    let at = 0;
    while (!this.#hasHead) {
      const end = bytes.indexOf("\r\n\r\n", at);
      if ((end < 0 ? bytes.length : end) - at > HEAD_BYTES_MAX) throw new MalformedResponse("its headers are too long");
      if (end < 0) {
        this.#keep(bytes.subarray(at));
        return;
      }
      this.#readHead(bytes.toString("latin1", at, end + 2));
      at = end + 4;
    }
    this.#readBody(bytes, at);
  }

  /** Called when the other server has closed the connection. Throws `MalformedResponse` if the response is incomplete. */
  end(): void {
    if (this.isDone) return;
    if (this.#hasHead && this.#framing.kind === "until-close") {
      this.isDone = true;
      return;
    }
    throw new MalformedResponse("the connection was closed before its end");
  }

  #keep(bytes: Buffer): void {
    // The bytes that are left are copied, because the runtime reuses the memory of `bytes`.
    if (bytes.length > 0) this.#rest = Buffer.from(bytes);
  }

  #readHead(head: string): void {
    const line = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?\r\n/.exec(head);
    if (line === null) throw new MalformedResponse("its status line is malformed");
    const status = Number(line[2]);
    if (status < 200) {
      if (status === 101 || ++this.#interim > INTERIM_MAX)
        throw new MalformedResponse("it switches to another protocol, or has too many 1xx responses");
      return;
    }
    this.#hasHead = true;
    this.status = status;
    const { framing, isClosing } = framingOf(status, head, line[0].length);
    this.#framing = framing;
    this.isReusable = line[1] === "1" && !isClosing && framing.kind !== "until-close";
    if (framing.kind === "none" || (framing.kind === "length" && framing.left === 0)) this.isDone = true;
  }

  #readBody(bytes: Buffer, from: number): void {
    const framing = this.#framing;
    if (framing.kind === "until-close") {
      this.#take(bytes, from, bytes.length);
      return;
    }
    let left = bytes.length - from;
    if (framing.kind === "length" && !this.isDone) {
      const length = Math.min(framing.left, left);
      framing.left -= length;
      left -= length;
      this.#take(bytes, from, from + length);
      if (framing.left === 0) this.isDone = true;
    }
    if (framing.kind === "chunked" && !this.isDone) left -= this.#readChunks(framing.decoder, bytes, from);
    if (this.isDone && left > 0) this.isReusable = false;
  }

  /** Decodes chunks, and returns the number of bytes that belonged to the body. */
  #readChunks(decoder: ChunkedDecoder, bytes: Buffer, start: number): number {
    const used = decoder.decode(bytes.subarray(start), (from, to) => this.#take(bytes, start + from, start + to));
    // After the body was cut, the decoder does not check the chunks that follow.
    if (this.isDone) return used;
    if (decoder.state === "done") this.isDone = true;
    else if (decoder.state !== "open") throw new MalformedResponse("its chunks are malformed");
    return used;
  }

  #take(bytes: Buffer, from: number, to: number): void {
    const space = this.#bodyBytesMax - this.#bodyBytes;
    if (to - from > space) {
      this.isCut = true;
      this.isDone = true;
      this.isReusable = false;
    }
    const length = Math.min(to - from, space);
    if (length === 0) return;
    // The bytes are copied, because the runtime reuses the memory of `bytes`.
    const own = Buffer.allocUnsafe(length);
    bytes.copy(own, 0, from, from + length);
    this.#bodyBytes += length;
    const take = this.#takeBody;
    if (take === undefined || this.status !== 200) {
      this.#body.push(own);
      return;
    }
    const taking = (this.#taking ?? Promise.resolve()).then(() => take(own));
    this.#taking = taking;
    const end = () => {
      if (this.#taking === taking) this.#taking = undefined;
    };
    taking.then(end, () => {});
  }
}

/** Decides where the body ends (RFC 9112, 6.3). The text `head` has the headers from the position `first` on, each with its line break. */
function framingOf(status: number, head: string, first: number): { framing: Framing; isClosing: boolean } {
  let length: string | undefined;
  let coding: string | undefined;
  let isClosing = false;
  for (let at = first; at < head.length; ) {
    const end = head.indexOf("\r\n", at);
    const colon = head.indexOf(":", at);
    // A header line that begins with a space would continue the header before it, which HTTP no longer allows.
    if (colon > end || !NAME.test(head.slice(at, colon))) throw new MalformedResponse("one of its headers is malformed");
    const start = at;
    at = end + 2;
    // Most headers do not affect the length of the body, so they are not parsed.
    if (!LENGTHS.has(colon - start)) continue;
    const name = head.slice(start, colon).toLowerCase();
    const value = head.slice(colon + 1, end).trim();
    if (name === "content-length") {
      if ((length !== undefined && length !== value) || !/^\d{1,15}$/.test(value)) throw new MalformedResponse("its Content-Length is not valid");
      length = value;
    } else if (name === "transfer-encoding") {
      if (coding !== undefined || value.toLowerCase() !== "chunked") throw new MalformedResponse("its transfer coding is not supported");
      coding = value;
    } else if (name === "connection" && value.toLowerCase().includes("close")) isClosing = true;
  }
  if (coding !== undefined && length !== undefined) throw new MalformedResponse("it has both Content-Length and Transfer-Encoding");
  if (status === 204 || status === 304) return { framing: NOTHING, isClosing };
  if (coding !== undefined) return { framing: { kind: "chunked", decoder: new ChunkedDecoder(BODY_UNLIMITED) }, isClosing };
  return { framing: length === undefined ? { kind: "until-close" } : { kind: "length", left: Number(length) }, isClosing };
}

const LENGTHS = new Set(["content-length", "transfer-encoding", "connection"].map(({ length }) => length));

/** Matches the name of a header (RFC 9110, 5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
