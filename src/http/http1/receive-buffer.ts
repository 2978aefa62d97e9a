/** The bytes that a connection has received and not used yet. */

const NONE = Buffer.alloc(0);
/** Pieces from this size on are not copied until somebody reads the bytes: of a body that never ends, nobody does. */
const WAITING_PIECE_MIN = 4_096;

export class ReceiveBuffer {
  #bytes: Buffer = NONE;
  #start = 0;
  #end = 0;
  /** The buffer owns its memory, so it may write later bytes behind the present ones. */
  #isOwn = false;
  /** Later bytes, in the pieces in which they came. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  get length(): number {
    return this.#end - this.#start + this.#waitingBytes;
  }

  /** Adds bytes. An empty buffer keeps `bytes` without a copy, which is the rule: most requests come in one piece. */
  append(bytes: Buffer): void {
    if (this.#start === this.#end) {
      this.#bytes = bytes;
      this.#start = 0;
      this.#end = bytes.length;
      this.#isOwn = false;
      return;
    }
    if (bytes.length >= WAITING_PIECE_MIN) {
      this.#waiting.push(bytes);
      this.#waitingBytes += bytes.length;
      return;
    }
    this.#join(bytes.length);
    this.#add(bytes);
  }

  /** Makes the bytes contiguous, with room for `more` bytes behind them. */
  #join(more = 0): void {
    if (this.#waitingBytes + more === 0) return;
    const needed = this.length + more;
    if (!this.#isOwn || this.#start + needed > this.#bytes.length) this.#grow(needed);
    for (const piece of this.#waiting) this.#add(piece);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #add(bytes: Buffer): void {
    bytes.copy(this.#bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Doubles the memory, so that a client that sends byte by byte costs no more than any other client. */
  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * needed);
    this.#bytes.copy(grown, 0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    this.#bytes = grown;
    this.#isOwn = true;
  }

  byteAt(index: number): number | undefined {
    this.#join();
    return index < this.length ? this.#bytes[this.#start + index] : undefined;
  }

  /** The position of the text, or -1 if the text is not found. `from` and the result count from the first unused byte. */
  indexOf(text: string, from: number): number {
    this.#join();
    // The memory behind the last byte is not searched: it may be as large as the received bytes, and each piece that arrives starts a search.
    const received = this.#bytes.length === this.#end ? this.#bytes : this.#bytes.subarray(0, this.#end);
    const found = received.indexOf(text, this.#start + from, "latin1");
    return found === -1 ? -1 : found - this.#start;
  }

  /** The bytes as text in Latin-1, so that each character is a byte. The bytes stay unused. */
  text(from: number, to: number): string {
    this.#join();
    return this.#bytes.toString("latin1", this.#start + from, this.#start + Math.min(to, this.length));
  }

  /** All unused bytes, which stay unused. */
  unread(): Buffer {
    this.#join();
    return this.#bytes.subarray(this.#start, this.#end);
  }

  skip(count: number): void {
    this.#join();
    this.#start += count;
    if (this.#start === this.#end) this.clear();
  }

  /** Uses the first bytes and returns them. The returned bytes are never overwritten later. */
  take(count: number): Buffer {
    this.#join();
    const taken = this.#bytes.subarray(this.#start, this.#start + count);
    this.skip(count);
    return taken;
  }

  clear(): void {
    this.#bytes = NONE;
    this.#start = 0;
    this.#end = 0;
    this.#isOwn = false;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
