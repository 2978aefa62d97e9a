import type { ByteSocket } from "./byte-socket.ts";

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
