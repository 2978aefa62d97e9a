/**
 * Secrets that must be read back, such as an app's secret (an HMAC key), are stored sealed: AES-256-GCM under a key that
 * is derived from the operator's master key and is not in the database. Tokens are never sealed, only hashed (D-11).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** AES-256. */
const KEY_BYTES = 32;
/** 128 bits: a shorter key would be easier to guess than to break. */
const MASTER_BYTES_MIN = 16;
/** The size for which GCM is defined without a further hash (NIST SP 800-38D). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The format of the rest, so that another format can be added later. */
const PREFIX = "v1.";

/** HKDF-SHA256 (RFC 5869) with `purpose` as info: 32 bytes, different for each purpose. */
export function deriveKey(master: Uint8Array, purpose: string): Uint8Array {
  if (master.byteLength < MASTER_BYTES_MIN) throw new RangeError(`a master key must have at least ${MASTER_BYTES_MIN} bytes`);
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), purpose, KEY_BYTES));
}

/** The text was sealed with another key, or has been changed. */
export class SealBroken extends Error {
  constructor() {
    super("a sealed value cannot be opened: it was changed, or sealed with another key");
    this.name = "SealBroken";
  }
}

export class Sealer {
  readonly #key: Uint8Array;

  /** `key`: 32 bytes, from `deriveKey`. */
  constructor(key: Uint8Array) {
    if (key.byteLength !== KEY_BYTES) throw new RangeError(`a sealing key must have ${KEY_BYTES} bytes`);
    this.#key = Uint8Array.from(key);
  }

  /** `v1.` and base64url of nonce, ciphertext and tag. The same text seals differently each time. */
  seal(text: string): string {
    // Not the seeded randomness of system.ts: a nonce that repeats under one key reveals the key stream.
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return PREFIX + sealed.toString("base64url");
  }

  /** Throws `SealBroken`. */
  open(sealed: string): string {
    if (!sealed.startsWith(PREFIX)) throw new SealBroken();
    const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64url");
    // Base64 decoding skips unknown characters, so a changed text could decode to the same bytes.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== sealed.slice(PREFIX.length)) throw new SealBroken();
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw new SealBroken();
    }
  }
}
