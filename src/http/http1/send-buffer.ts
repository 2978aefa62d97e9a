/** What goes out on a connection: written at once, and kept only where the caller reads more slowly than it is answered. */
import type { Socket } from "bun";

export class SendBuffer {
  readonly #socket: Socket<unknown>;
  #unsent: Buffer[] = [];
  #whenEmpty: (() => void)[] = [];

  constructor(socket: Socket<unknown>) {
    this.#socket = socket;
  }

  get isEmpty(): boolean {
    return this.#unsent.length === 0;
  }

  /** `size` is that of the text in UTF-8. */
  writeText(text: string, size: number): void {
    if (this.#unsent.length > 0) {
      this.#unsent.push(Buffer.from(text));
      return;
    }
    const written = this.#socket.write(text);
    if (written < size) this.#unsent.push(Buffer.from(text).subarray(Math.max(written, 0)));
  }

  writeBytes(bytes: Uint8Array): void {
    const written = this.#unsent.length > 0 ? 0 : this.#socket.write(bytes);
    if (written < bytes.length) this.#unsent.push(Buffer.from(bytes.subarray(Math.max(written, 0))));
  }

  /** The socket takes bytes again. Returns whether it took any. */
  drain(): boolean {
    let hasMoved = false;
    while (this.#unsent.length > 0) {
      const bytes = this.#unsent[0] as Buffer;
      const written = Math.max(this.#socket.write(bytes), 0);
      hasMoved ||= written > 0;
      if (written < bytes.length) {
        this.#unsent[0] = bytes.subarray(written);
        return hasMoved;
      }
      this.#unsent.shift();
    }
    this.#wake();
    return hasMoved;
  }

  /** Resolves when everything is with the socket, or nothing will be. */
  emptied(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  discard(): void {
    this.#unsent = [];
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#whenEmpty;
    if (waiting.length === 0) return;
    this.#whenEmpty = [];
    for (const resolve of waiting) resolve();
  }
}
