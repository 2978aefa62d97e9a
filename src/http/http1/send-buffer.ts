/** The bytes that a connection sends. Bytes are written immediately, and are stored only if the client reads more slowly than the server writes. */

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

/** The server's two clocks. */
export interface Clock {
  monotonicMs(): number;
  /** Returns the time of day, for the Date header. */
  nowMs(): number;
}

export class SendBuffer {
  readonly #socket: ByteSocket;
  readonly #clock: Clock;
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

  constructor(socket: ByteSocket, clock: Clock, keeps: (bytes: number) => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#keeps = keeps;
  }

  get isEmpty(): boolean {
    return this.#unsent.length === 0;
  }

  /** Sends text. `size` is the number of the text's bytes in UTF-8. */
  writeText(text: string, size: number): void {
    if (this.isClosed) return;
    const written = this.isEmpty ? this.#socket.write(text) : 0;
    if (written < size) this.#keep(Buffer.from(text), written);
  }

  /** Sends bytes. Returns a promise that resolves when the client can receive more bytes, or has closed the connection. */
  writeBytes(bytes: Uint8Array): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    const written = this.isEmpty ? this.#socket.write(bytes) : 0;
    if (written < bytes.length) this.#keep(Buffer.from(bytes), written);
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  #keep(bytes: Buffer, written: number): void {
    if (this.isEmpty) this.sinceMs = this.#clock.monotonicMs();
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
        this.sinceMs = this.#clock.monotonicMs();
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
    const left = this.#unsent.reduce((sum, { length }) => sum + length, 0);
    this.#unsent = [];
    if (left > 0) this.#keeps(-left);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
