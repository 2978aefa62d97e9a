/**
 * Secrets that must be read back, such as an app's secret (an HMAC key), are stored sealed: AES-256-GCM under a key that is derived from the
 * operator's master key and is not in the database. Tokens are only hashed (D-11).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** The size of an AES-256 key. */
const KEY_BYTES = 32;
/** The shortest master key, 128 bits: a shorter key would be easier to guess than AES is to break. */
const MASTER_BYTES_MIN = 16;
/** The size of nonce for which GCM is defined without a further hash (NIST SP 800-38D). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The size of a key's id, 64 bits: two keys of an operator never have the same id, and the id reveals nothing about the key. */
const KEY_ID_BYTES = 8;
const KEY_ID_CHARACTERS = 2 * KEY_ID_BYTES;

/** HKDF-SHA256 (RFC 5869) with `purpose` as info: 32 bytes, different for each purpose. */
export function deriveKey(master: Uint8Array, purpose: string): Uint8Array {
  if (master.byteLength < MASTER_BYTES_MIN) throw new RangeError(`a master key must have at least ${MASTER_BYTES_MIN} bytes`);
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), purpose, KEY_BYTES));
}

/** A master key that was replaced. A replaced key still opens the values that it sealed, but seals no new ones. */
export interface PreviousKey {
  readonly key: Uint8Array;
  /** Unix ms of real time until which the key opens values; undefined: until the operator removes the key from the configuration. */
  readonly untilMs: number | undefined;
}

/** The master keys of a server (D-171). */
export interface KeyRing {
  readonly current: Uint8Array;
  readonly previous: readonly PreviousKey[];
  /** True if the keys are Plaza's own, so that Plaza can replace them; false if they are in the operator's configuration. */
  readonly isOwn: boolean;
  /** Creates a new current key, and keeps the old key as a previous one until `untilMs`. The change is durable when the call returns. */
  rotate(untilMs: number): void;
  /** Deletes the previous keys whose time has passed, unless something still needs them. */
  retire(nowMs: number): void | Promise<void>;
}

/** The id of a master key, for reports: it tells keys apart and reveals nothing else. */
export const masterKeyId = (master: Uint8Array): string => keyIdOf(deriveKey(master, "sealed secrets"));

/** The text was sealed with another key, or has been changed. */
export class SealBroken extends Error {
  constructor() {
    super("a sealed value cannot be opened: it was changed, or sealed with another key");
    this.name = "SealBroken";
  }
}

export class Sealer {
  #current!: Uint8Array;
  /** All keys by id, including the current one. */
  #keys!: ReadonlyMap<string, Uint8Array>;
  /** The beginning of every value that the current key has sealed: `v1.`, the key's id in hex and a dot. */
  prefix!: string;

  /** `current` seals and opens; the keys in `previous` only open values that they sealed. Each key has 32 bytes, from `deriveKey`. */
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

  /** Returns the prefix, and then nonce, ciphertext and tag in base64url. Each call gives another result for the same text. */
  seal(text: string): string {
    // Not the seeded randomness of system.ts: a nonce that repeats under one key reveals the key stream.
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#current, nonce, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return this.prefix + sealed.toString("base64url");
  }

  /** Opens a sealed text. Throws `SealBroken`. */
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
  // Base64 decoding skips unknown characters, so a changed text could decode to the same bytes.
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
 * The sealing keys of all worlds. A replaced key is kept while there are further worlds or snapshots: an idle world has not sealed its secrets with
 * the new key yet, and a snapshot is never sealed anew (D-171).
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
