/** The bytes that a connection sends. Bytes are written at once, and kept only if the client reads more slowly than the server writes. */

/** The part of Bun's sockets that a connection uses. */
export interface ByteSocket {
  readonly remoteAddress: string;
  /**
   * Writes text (as UTF-8) or bytes. Returns how many bytes were taken: less than all if the socket is full, and not above 0 if the socket is closed.
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

/** The server's clock. */
export interface Clock {
  monotonicMs(): number;
  /** Wall-clock time, for the Date header. */
  nowMs(): number;
}

export class SendBuffer {
  readonly #socket: ByteSocket;
  readonly #clock: Clock;
  #unsent: Buffer[] = [];
  readonly #whenEmpty: (() => void)[] = [];
  /** Only valid while the buffer is not empty: when the client last took bytes, or when the first bytes were kept. */
  sinceMs = 0;
  isClosed = false;
  /** Called with the change of the number of kept bytes. */
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

  /** Sends bytes. Resolves when the client has room for more, or has closed the connection. */
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

  /** Called when the socket takes bytes again. Sends the kept bytes. */
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

  /** Drops the kept bytes, because nothing more can be sent. */
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
