/**
 * The bytes that a connection sends. Under load, text is written at the end of the turn of the event loop; other text and bytes are written
 * immediately. Unsent bytes are stored only if the client reads more slowly than the server writes.
 */

/** The methods of Bun's sockets that a connection uses. */
export interface ByteSocket {
  readonly remoteAddress: string;
  /**
   * Writes text (as UTF-8) or bytes. Returns the number of bytes that the socket accepted: fewer than all if the socket is full, and 0 or less if the
   * socket is closed.
   */
  write(data: string | Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Ends the sending side after the written bytes are sent. */
  shutdown(): void;
  /** Closes the socket after the written bytes are sent. */
  end(): void;
  /** Closes the socket at once. */
  terminate(): void;
}

/** Pauses and resumes reading from a socket. While reading is paused, the client has to wait. */
export class Reading {
  readonly #socket: ByteSocket;
  #isPaused = false;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}

/** The server's two clocks, and the turns of its event loop. */
export interface Clock {
  monotonicMs(): number;
  /** Returns the time of day, for the Date header. */
  nowMs(): number;
  /** Calls `run` when the current turn of the event loop has ended. */
  afterTurn(run: () => void): void;
}

/** If no text was sent for this time, text is written immediately: a client that waits for each response gets it a loop's turn earlier. */
const QUIET_MS = 0.1;
/** The longest time for which text waits for other text of its turn, apart from the work of a single request. */
const GATHERED_MS_MAX = 1;
/**
 * The number of connections whose texts are written together. If more texts waited, reads would be faster, and writes slower: the client would send
 * its next requests later, so that fewer writes share a commit.
 */
const GATHERED_MAX = 8;
/** The number of bytes of one connection after which text is written without waiting for the end of the turn. */
const GATHERED_BYTES_MAX = 65_536;

/**
 * Writes the texts of one turn of the event loop together. On one machine each write wakes the client if it sleeps, which takes more time than the
 * write itself. After the first of several writes the client is awake, so gathered writes wake it once (measured with 64 connections: a read takes
 * 35 µs of CPU instead of 44 µs).
 */
export class Turn {
  readonly clock: Clock;
  #gathered: SendBuffer[] = [];
  #sinceMs = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isEnding = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  add(buffer: SendBuffer): void {
    const nowMs = this.clock.monotonicMs();
    const isQuiet = nowMs - this.#lastMs >= QUIET_MS && this.#gathered.length === 0;
    this.#lastMs = nowMs;
    if (isQuiet) {
      buffer.writeGathered();
      return;
    }
    const count = this.#gathered.push(buffer);
    if (count === 1) this.#sinceMs = nowMs;
    else if (count === GATHERED_MAX || nowMs - this.#sinceMs >= GATHERED_MS_MAX) this.#write();
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.clock.afterTurn(this.#end);
  }

  readonly #end = (): void => {
    this.#isEnding = false;
    this.#write();
  };

  #write(): void {
    for (const buffer of this.#gathered.splice(0)) buffer.writeGathered();
  }
}

export class SendBuffer {
  readonly #socket: ByteSocket;
  readonly #turn: Turn;
  /** The text that is written at the end of the turn, and the number of its bytes in UTF-8. */
  #gathered = "";
  #gatheredSize = 0;
  #unsent: Buffer[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  /**
   * The time at which the client last accepted bytes, or at which the first unsent bytes were stored. The time is valid only while the buffer is not
   * empty.
   */
  sinceMs = 0;
  isClosed = false;
  /** The buffer calls this function when the number of stored bytes changes; `bytes` is the difference. */
  readonly #keeps: (bytes: number) => void;

  constructor(socket: ByteSocket, turn: Turn, keeps: (bytes: number) => void) {
    this.#socket = socket;
    this.#turn = turn;
    this.#keeps = keeps;
  }

  get isEmpty(): boolean {
    return this.#unsent.length === 0;
  }

  /** Sends text. `size` is the number of the text's bytes in UTF-8. */
  writeText(text: string, size: number): void {
    if (this.isClosed) return;
    const isFirst = this.#gatheredSize === 0;
    this.#gathered += text;
    this.#gatheredSize += size;
    if (this.#gatheredSize > GATHERED_BYTES_MAX) this.writeGathered();
    else if (isFirst) this.#turn.add(this);
  }

  /** Writes the text that waits for the end of the turn. Call this method before the socket is used in any other way. */
  writeGathered(): void {
    const size = this.#gatheredSize;
    if (size === 0) return;
    const text = this.#gathered;
    this.#gathered = "";
    this.#gatheredSize = 0;
    const written = this.isEmpty ? this.#socket.write(text) : 0;
    if (written < size) this.#keep(Buffer.from(text), written);
  }

  /** Sends bytes. Returns a promise that resolves when the client can receive more bytes, or has closed the connection. */
  writeBytes(bytes: Uint8Array): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.writeGathered();
    const written = this.isEmpty ? this.#socket.write(bytes) : 0;
    if (written < bytes.length) this.#keep(Buffer.from(bytes), written);
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  #keep(bytes: Buffer, written: number): void {
    if (this.isEmpty) this.sinceMs = this.#turn.clock.monotonicMs();
    const unsent = bytes.subarray(Math.max(written, 0));
    this.#unsent.push(unsent);
    this.#keeps(unsent.length);
  }

  /** The connection calls this method when the socket accepts bytes again. The method sends the stored bytes. */
  drain(): void {
    while (this.#unsent.length > 0) {
      const bytes = this.#unsent[0] as Buffer;
      const written = Math.max(this.#socket.write(bytes), 0);
      if (written > 0) {
        this.sinceMs = this.#turn.clock.monotonicMs();
        this.#keeps(-written);
      }
      if (written < bytes.length) {
        this.#unsent[0] = bytes.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    this.#wake();
  }

  /** Drops the stored bytes, because no more bytes can be sent. */
  close(): void {
    this.isClosed = true;
    this.#gathered = "";
    this.#gatheredSize = 0;
    const left = this.#unsent.reduce((sum, { length }) => sum + length, 0);
    this.#unsent = [];
    if (left > 0) this.#keeps(-left);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
