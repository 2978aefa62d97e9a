/** Buffers the bytes that a connection has received and that its reader has not used yet. */

const NONE = Buffer.alloc(0);
/**
 * A received piece of at least this size is not copied until a caller reads the buffer. If a body never ends, no caller reads it, so no copy is made.
 */
const WAITING_PIECE_MIN = 4_096;

export class ReceiveBuffer {
  #bytes: Buffer = NONE;
  #start = 0;
  #end = 0;
  /** Whether this buffer allocated its memory itself, so that the buffer may write later bytes behind the stored bytes. */
  #isOwn = false;
  /** The received pieces that are not copied into `#bytes` yet, in the order in which they arrived. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  get length(): number {
    return this.#end - this.#start + this.#waitingBytes;
  }

  /** Adds bytes. An empty buffer stores `bytes` without a copy. Most requests arrive in one piece, so most requests are never copied. */
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

  /** Copies all received bytes into one contiguous block of memory that has space for `more` further bytes. */
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

  /** Allocates twice the needed memory, so that a client that sends single bytes does not cause a copy of the buffer for each byte. */
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

  /**
   * Returns the position of the text, or -1 if the buffer does not contain the text. `from` and the returned position are counted from the first
   * unused byte.
   */
  indexOf(text: string, from: number): number {
    this.#join();
    // The search for a text leaves out the free memory behind the last byte, which may be large, because each received piece starts a new search.
    const received = this.#bytes.length === this.#end ? this.#bytes : this.#bytes.subarray(0, this.#end);
    const found = received.indexOf(text, this.#start + from, "latin1");
    return found === -1 ? -1 : found - this.#start;
  }

  /** Returns bytes as text in Latin-1, in which each character is one byte. The bytes remain in the buffer. */
  text(from: number, to: number): string {
    this.#join();
    return this.#bytes.toString("latin1", this.#start + from, this.#start + Math.min(to, this.length));
  }

  /** Returns all unused bytes. The bytes remain in the buffer. */
  unread(): Buffer {
    this.#join();
    return this.#bytes.subarray(this.#start, this.#end);
  }

  skip(count: number): void {
    this.#join();
    this.#start += count;
    if (this.#start === this.#end) this.clear();
  }

  /** Removes the first bytes from the buffer and returns them. The buffer never overwrites the returned bytes. */
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
