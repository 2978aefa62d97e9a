/** What a connection needs of a socket. Bun's sockets have it. */
export interface ByteSocket {
  readonly remoteAddress: string;
  /** Returns how many bytes were taken; less than all when the socket is full, and not above 0 when it is closed. Text is UTF-8. */
  write(data: string | Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Ends the sending side after what was written. */
  shutdown(): void;
  /** Closes after what was written. */
  end(): void;
  /** Closes at once. */
  terminate(): void;
}

/** Whether bytes are taken from a socket. While they are not, the client has to wait. */
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
