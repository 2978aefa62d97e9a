/** Cursors (D-30): opaque, signed, URL-safe; they hold the sort key of a row and serve only the list that gave them. */
import { hash, timingSafeEqual } from "node:crypto";
import { invalidParameter } from "#kernel/errors";

/** 72 bits of signature: a cursor reveals and permits nothing that its list does not, so guessing one gains nothing. */
const SIGNATURE_BYTES = 9;
/** Of the signature in base64url: 9 bytes are 12 characters without a rest, so that signature and text are encoded by themselves. */
const SIGNATURE_CHARACTERS = 12;
/** Longer than any sort key of the interface. */
const CURSOR_CHARACTERS_MAX = 1_000;

export class Cursors {
  readonly #key: string;
  constructor(key: Uint8Array) {
    this.#key = Buffer.from(key).toString("base64url");
  }

  sign(list: string, key: readonly string[]): string {
    const text = key.length === 1 ? (key[0] as string) : JSON.stringify(key);
    return this.#signature(list, text) + Buffer.from(text).toString("base64url");
  }

  /** `parameter` is `before` or `after`, for the error. */
  open(list: string, cursor: string, parameter: string, columns: number): readonly string[] {
    const refused = () => invalidParameter(parameter, "is not a cursor of this list");
    if (cursor.length > CURSOR_CHARACTERS_MAX) throw refused();
    const bytes = Buffer.from(cursor, "base64url");
    // Decoding skips what is not in the alphabet: only the one spelling that was given out is taken back.
    if (bytes.length <= SIGNATURE_BYTES || bytes.toString("base64url") !== cursor) throw refused();
    const text = bytes.subarray(SIGNATURE_BYTES).toString();
    const expected = Buffer.from(this.#signature(list, text), "base64url");
    if (!timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), expected)) throw refused();
    return columns === 1 ? [text] : (JSON.parse(text) as string[]);
  }

  /** The key stands in front: a digest of which a quarter is shown cannot be continued, and it costs a fifth of an HMAC. */
  #signature(list: string, text: string): string {
    return hash("sha256", `${this.#key}\n${list}\n${text}`, "base64url").slice(0, SIGNATURE_CHARACTERS);
  }
}
