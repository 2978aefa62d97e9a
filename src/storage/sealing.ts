/**
 * Secrets that the server must read again, such as an app's secret (an HMAC key), are stored encrypted ("sealed"): with AES-256-GCM, under a key that
 * is derived from the operator's master key and is not in the database. The server stores only the hash of a token (D-11).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** The size of an AES-256 key. */
const KEY_BYTES = 32;
/** The shortest allowed master key, which has 128 bits. It would be easier to guess a shorter master key than to break AES. */
const MASTER_BYTES_MIN = 16;
/** The size of a nonce. GCM uses a nonce of this size directly, without hashing it (NIST SP 800-38D). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/**
 * The size of a key's id, which is 64 bits. With an id of 64 bits, two keys of an operator never have the same id, and the id does not reveal the
 * key.
 */
const KEY_ID_BYTES = 8;
const KEY_ID_CHARACTERS = 2 * KEY_ID_BYTES;

/** Derives a key of 32 bytes, a different one for each purpose, by HKDF-SHA256 (RFC 5869) with `purpose` as info. */
export function deriveKey(master: Uint8Array, purpose: string): Uint8Array {
  if (master.byteLength < MASTER_BYTES_MIN) throw new RangeError(`a master key must have at least ${MASTER_BYTES_MIN} bytes`);
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), purpose, KEY_BYTES));
}

/** A master key that was replaced. A replaced key can still decrypt the values that it encrypted, but encrypts no new values. */
export interface PreviousKey {
  readonly key: Uint8Array;
  /**
   * The Unix time in ms (real time) until which the key decrypts values. If the time is undefined, the replaced key decrypts values until the
   * operator removes the key from the configuration.
   */
  readonly untilMs: number | undefined;
}

/** Stores the master keys of a server (D-171). */
export interface KeyRing {
  readonly current: Uint8Array;
  readonly previous: readonly PreviousKey[];
  /** Whether Plaza created the master keys, so that Plaza can replace them; false if the keys are in the operator's configuration. */
  readonly isOwn: boolean;
  /** Creates a new current key, and keeps the old key as a previous key until `untilMs`. The change of the key is durable when the method returns. */
  rotate(untilMs: number): void;
  /** Deletes the previous keys whose time has passed, unless some data still needs them. */
  retire(nowMs: number): void | Promise<void>;
}

/** Returns the id of a master key, for reports. Different keys have different ids, and an id does not reveal its key. */
export const masterKeyId = (master: Uint8Array): string => keyIdOf(deriveKey(master, "sealed secrets"));

/** The error for a text that was sealed with another key, or was changed after it was sealed. */
export class SealBroken extends Error {
  constructor() {
    super("a sealed value cannot be opened: it was changed, or sealed with another key");
    this.name = "SealBroken";
  }
}

export class Sealer {
  #current!: Uint8Array;
  /** The current key and the previous keys, by their ids. */
  #keys!: ReadonlyMap<string, Uint8Array>;
  /** The beginning of every value that the current key has sealed: `v1.`, the key's id in hex and a dot. */
  prefix!: string;

  /**
   * The key `current` encrypts and decrypts values; the keys in `previous` only decrypt values that they encrypted before. Each sealing key has 32
   * bytes and is the result of `deriveKey`.
   */
  constructor(current: Uint8Array, previous: readonly Uint8Array[] = []) {
    this.use(current, previous);
  }

  /** Replaces the keys of a running server. */
  use(current: Uint8Array, previous: readonly Uint8Array[]): void {
    const keys = [current, ...previous];
    if (keys.some((key) => key.byteLength !== KEY_BYTES)) throw new RangeError(`a sealing key must have ${KEY_BYTES} bytes`);
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), Uint8Array.from(key)]));
    this.#current = Uint8Array.from(current);
    this.prefix = `v1.${keyIdOf(current)}.`;
  }

  /**
   * Encrypts a text, and returns the prefix of the key, followed by the nonce, the ciphertext and the tag in base64url. Each call returns a different
   * result for the same text.
   */
  seal(text: string): string {
    // The seeded randomness of system.ts is not used, because a nonce that repeats under one key reveals the key stream.
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#current, nonce, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return this.prefix + sealed.toString("base64url");
  }

  /** Decrypts a sealed text. Throws `SealBroken`. */
  open(sealed: string): string {
    const [, id, encoded] = /^v1\.([0-9a-f]+)\.(.+)$/.exec(sealed) ?? [];
    const key = this.#keys.get(id ?? "");
    if (key === undefined || encoded === undefined) throw new SealBroken();
    return openWith(key, encoded);
  }
}

const keyIdOf = (key: Uint8Array): string => Buffer.from(deriveKey(key, "key id")).toString("hex").slice(0, KEY_ID_CHARACTERS);

function openWith(key: Uint8Array, encoded: string): string {
  const bytes = Buffer.from(encoded, "base64url");
  // Base64 decoding skips unknown characters, so a sealed text that somebody changed could decode to the same bytes. To detect a changed text, the
  // decoded bytes are encoded again and compared with the text.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== encoded) throw new SealBroken();
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch {
    throw new SealBroken();
  }
}

/**
 * The sealing keys of all worlds. A replaced sealing key is kept as long as other worlds than the first one or snapshots exist, because an idle world
 * has not yet sealed its secrets with the new key, and a snapshot is never sealed again (D-171).
 */
export const sharedKeys = (keys: KeyRing, hasMore: () => Promise<boolean>): KeyRing => ({
  get current() {
    return keys.current;
  },
  get previous() {
    return keys.previous;
  },
  isOwn: keys.isOwn,
  rotate: (untilMs) => keys.rotate(untilMs),
  async retire(nowMs) {
    if (!(await hasMore())) await keys.retire(nowMs);
  },
});
