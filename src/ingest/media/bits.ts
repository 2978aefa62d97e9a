/** The error of a stream that cannot be recorded. The encoder gets the error's message and is disconnected. */
export class MediaProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "MediaProblem";
  }
}

/** Reads bits from the highest to the lowest, as in the headers of H.264 and AAC. After the last bit the reader returns zeros. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isPastEnd(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  /** Reads a number of up to 32 bits. */
  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#at++) value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1);
    return value;
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** Reads an unsigned Exp-Golomb number (H.264, 9.1). */
  unsigned(): number {
    let zeros = 0;
    while (this.bits(1) === 0) if (++zeros > 31) return 0;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** Reads a signed Exp-Golomb number (H.264, 9.1.1). */
  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? -(value / 2) : (value + 1) / 2;
  }
}
