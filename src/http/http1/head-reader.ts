/** Reads the heads of one connection, one after the other, from the bytes that it has received. */
import { malformed, type ProtocolProblem } from "./problem.ts";
import type { ReceiveBuffer } from "./receive-buffer.ts";
import { parseHead, type RequestHead } from "./request-head.ts";

/** Characters of a head that is remembered; thousands of connections may be open. */
const KNOWN_MAX = 1_024;

/** A control character, or half of a line break: no head ever has these, however it goes on. */
const NEVER = /[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/;

export class HeadReader {
  readonly #bytesMax: number;
  /** How far an incomplete head was searched for its end. */
  #searched = 0;
  #hasSkippedLine = false;
  // Most clients send the same head again and again on a connection: it is compared, and not parsed anew.
  #knownText = "";
  #known: RequestHead | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes the next head off `buffer`. Undefined while it is not complete. */
  read(buffer: ReceiveBuffer): RequestHead | ProtocolProblem | undefined {
    if (buffer.byteAt(0) === 13) {
      // RFC 9112, 2.2: an empty line before a request is ignored; old clients send one behind a body. More are no request.
      if (this.#hasSkippedLine) return malformed("several empty lines come before it");
      if (buffer.byteAt(1) === 10) {
        this.#hasSkippedLine = true;
        this.#searched = 0;
        buffer.skip(2);
        if (buffer.byteAt(0) === 13) return malformed("several empty lines come before it");
      }
    }
    const end = buffer.indexOf("\r\n\r\n", Math.max(0, this.#searched - 3));
    if (end > this.#bytesMax || (end === -1 && buffer.length > this.#bytesMax)) return { kind: "head-too-large" };
    if (end === -1) {
      const isHopeless = NEVER.test(buffer.text(Math.max(0, this.#searched - 1), buffer.length));
      this.#searched = buffer.length;
      return isHopeless ? malformed("it has characters that no head has") : undefined;
    }
    const text = buffer.text(0, end);
    buffer.skip(end + 4);
    this.#searched = 0;
    this.#hasSkippedLine = false;
    return this.#parse(text);
  }

  #parse(text: string): RequestHead | ProtocolProblem {
    if (this.#known !== undefined && text === this.#knownText) return this.#known;
    const head = parseHead(text);
    if (!("kind" in head) && text.length <= KNOWN_MAX) {
      this.#knownText = text;
      this.#known = head;
    }
    return head;
  }
}
