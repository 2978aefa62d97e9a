/**
 * Decodes the chunked transfer coding (RFC 9112, 7.1) from pieces of any size. The server decodes both requests and the responses to webhooks with
 * this decoder. The chunked decoder is strict, because two lenient readers may see different bodies in the same bytes: the size of a chunk must not
 * have blanks around it, a line must not end with a bare line feed, and an extension must follow the grammar exactly. The decoder checks the
 * extensions of chunks and the trailers, and drops them.
 */

const LF = 10;
/**
 * Matches the line that begins a chunk: a size in up to 8 hexadecimal digits, then extensions. An extension is a name, which may have a token or a
 * quoted text as its value.
 */
const SIZE_LINE =
  /^([0-9A-Fa-f]{1,8})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20-\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
/**
 * The greatest number of characters of the line that begins a chunk. The extensions of chunks that common programs send are much shorter than this
 * limit.
 */
const SIZE_LINE_MAX = 256;
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** The greatest number of bytes of all trailers together. Plaza does not use the trailers of a chunked body. */
const TRAILERS_MAX = 8_192;

export class ChunkedDecoder {
  /**
   * The decoder's state is `open` until the last chunk and its trailers are read, or until the body is refused. After the end of the body, the state
   * is the result of the decoding.
   */
  state: "open" | "done" | "malformed" | "too-large" = "open";
  #expects: "size" | "data" | "data-end" | "trailer" = "size";
  /** The number of bytes of the current chunk that have not arrived yet. */
  #chunkLeft = 0;
  /** The number of bytes by which the body may still grow. */
  #bodyLeft: number;
  #trailersLeft = TRAILERS_MAX;
  /** The first bytes of a line whose end has not arrived yet. */
  #line = "";

  /**
   * The body may have at most `bytesMax` bytes. If the size of a chunk exceeds this limit, the state becomes `too-large` before the chunk's data are
   * read.
   */
  constructor(bytesMax: number) {
    this.#bodyLeft = bytesMax;
  }

  /**
   * Calls `take` with each range of `bytes` that belongs to the body. Returns the number of bytes that were read. As long as the decoder's state is
   * `open`, the method reads all bytes.
   */
  decode(bytes: Uint8Array, take: (from: number, to: number) => void): number {
    let at = 0;
    while (at < bytes.length && this.state === "open") {
      if (this.#expects !== "data") {
        at = this.#readLine(bytes, at);
        continue;
      }
      const to = Math.min(at + this.#chunkLeft, bytes.length);
      take(at, to);
      this.#chunkLeft -= to - at;
      at = to;
      if (this.#chunkLeft === 0) this.#expects = "data-end";
    }
    return at;
  }

  #readLine(bytes: Uint8Array, from: number): number {
    const end = bytes.indexOf(LF, from);
    const to = end === -1 ? bytes.length : end + 1;
    if (this.#line.length + to - from > this.#lineMax + 2) {
      this.state = "malformed";
      return to;
    }
    for (let at = from; at < to; at++) this.#line += String.fromCharCode(bytes[at] as number);
    if (end === -1) return to;
    const line = this.#line;
    this.#line = "";
    if (line.endsWith("\r\n")) this.#endLine(line.slice(0, -2));
    else this.state = "malformed";
    return to;
  }

  get #lineMax(): number {
    if (this.#expects === "size") return SIZE_LINE_MAX;
    return this.#expects === "trailer" ? this.#trailersLeft : 0;
  }

  #endLine(line: string): void {
    if (this.#expects === "data-end") this.#expects = "size";
    else if (this.#expects === "size") this.#beginChunk(SIZE_LINE.exec(line)?.[1]);
    else if (line === "") this.state = "done";
    else if (TRAILER_LINE.test(line)) this.#trailersLeft -= line.length + 2;
    else this.state = "malformed";
  }

  #beginChunk(size: string | undefined): void {
    if (size === undefined) {
      this.state = "malformed";
      return;
    }
    this.#chunkLeft = Number.parseInt(size, 16);
    this.#bodyLeft -= this.#chunkLeft;
    if (this.#bodyLeft < 0) this.state = "too-large";
    this.#expects = this.#chunkLeft === 0 ? "trailer" : "data";
  }
}
