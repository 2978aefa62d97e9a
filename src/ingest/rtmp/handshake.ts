/**
 * The handshake of RTMP (section 5.2): the peer sends C0 and C1, receives S0, S1 and S2, and sends C2. The server does not check the bytes of C2,
 * because encoders fill C2 differently.
 */
import { RtmpProblem } from "./message.ts";

const VERSION = 3;
const PART_BYTES = 1536;

export class Handshake {
  readonly #hello = new Uint8Array(1 + PART_BYTES);
  #received = 0;
  #echoLeft = PART_BYTES;

  /**
   * Reads bytes of the handshake. S1 is filled with `randomBytes`, and `reply` is called once to send S0, S1 and S2. Returns the bytes after the
   * handshake, or undefined while the handshake is not complete.
   */
  read(bytes: Uint8Array, randomBytes: (count: number) => Uint8Array, reply: (bytes: Uint8Array) => void): Uint8Array | undefined {
    let rest = bytes;
    if (this.#received < this.#hello.length) {
      const used = Math.min(rest.length, this.#hello.length - this.#received);
      this.#hello.set(rest.subarray(0, used), this.#received);
      this.#received += used;
      rest = rest.subarray(used);
      if (this.#received > 0 && this.#hello[0] !== VERSION) throw new RtmpProblem("the peer does not speak RTMP");
      if (this.#received < this.#hello.length) return undefined;
      reply(this.#reply(randomBytes));
    }
    const used = Math.min(rest.length, this.#echoLeft);
    this.#echoLeft -= used;
    return this.#echoLeft > 0 ? undefined : rest.subarray(used);
  }

  #reply(randomBytes: (count: number) => Uint8Array): Uint8Array {
    const bytes = new Uint8Array(1 + 2 * PART_BYTES);
    bytes[0] = VERSION;
    // S1 consists of the time 0, four zero bytes and random bytes. S2 repeats C1.
    bytes.set(randomBytes(PART_BYTES - 8), 9);
    bytes.set(this.#hello.subarray(1), 1 + PART_BYTES);
    return bytes;
  }
}
