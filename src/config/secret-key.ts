/** The master keys. The keys that seal secrets and cursors are derived from the master keys. */
import { createHash } from "node:crypto";
import { existsSync, linkSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KeyRing, PreviousKey } from "#storage/sealing";
import { makeFolder, replaceFile, sync, syncFolder } from "#storage/synced-folders";
import { type Config, ConfigProblem } from "./config.ts";
import { SECRET_KEY_BYTES } from "./option-readers.ts";

const SECRET_KEY_FILE = "secret.key";

type RandomKey = (byteCount: number) => Uint8Array;
type Keys = Pick<KeyRing, "current" | "previous">;

/**
 * Finds the master keys: the configured keys, or else the keys in the key file in the data folder. The first start of a server creates the key file,
 * which only the file's owner can read. A server that has its data only in memory uses a random master key. A sandbox on PostgreSQL uses a fixed key,
 * so that all its processes have the same key. The fixed key does not protect secrets, so `readConfig` refuses the fixed key outside the sandbox.
 */
export function keyRingOf(config: Config, randomKey: RandomKey): KeyRing {
  const { secret_key, further_secret_keys, data } = config;
  const further = further_secret_keys.map((key) => ({ key, untilMs: undefined }));
  if (secret_key !== undefined) return configured({ current: secret_key, previous: further });
  if (data === ":memory:") return new OwnKeys({ current: randomKey(SECRET_KEY_BYTES), previous: [] }, randomKey, () => {});
  if (data.startsWith("postgres")) return configured({ current: sandboxKey(), previous: further });
  const file = join(data, SECRET_KEY_FILE);
  if (!existsSync(file)) createFile(data, file, textOf({ current: randomKey(SECRET_KEY_BYTES), previous: [] }));
  const { current, previous } = keysIn(file);
  return new OwnKeys({ current, previous: [...previous, ...further] }, randomKey, (keys) => replaceFile(file, textOf(keys)));
}

const sandboxKey = (): Uint8Array => new Uint8Array(createHash("sha256").update("plaza sandbox key").digest());

const configured = (keys: Keys): KeyRing => ({
  ...keys,
  isOwn: false,
  rotate() {
    throw new Error("configured keys can be replaced only in the configuration");
  },
  // This function has nothing to do for configured keys, because the operator removes old keys from the configuration.
  retire() {},
});

/** The keys that Plaza itself created. The function `save` writes a new key to the key file before the key is used. */
class OwnKeys implements KeyRing {
  readonly isOwn = true;
  readonly #randomKey: RandomKey;
  readonly #save: (keys: Keys) => void;
  #keys: Keys;

  constructor(keys: Keys, randomKey: RandomKey, save: (keys: Keys) => void) {
    this.#keys = keys;
    this.#randomKey = randomKey;
    this.#save = save;
  }

  get current(): Uint8Array {
    return this.#keys.current;
  }

  get previous(): readonly PreviousKey[] {
    return this.#keys.previous;
  }

  rotate(untilMs: number): void {
    const { current, previous } = this.#keys;
    this.#replace({ current: this.#randomKey(SECRET_KEY_BYTES), previous: [{ key: current, untilMs }, ...previous] });
  }

  retire(nowMs: number): void {
    const { current, previous } = this.#keys;
    const left = previous.filter(({ untilMs }) => untilMs === undefined || untilMs > nowMs);
    if (left.length < previous.length) this.#replace({ current, previous: left });
  }

  #replace(keys: Keys): void {
    this.#save(keys);
    this.#keys = keys;
  }
}

// The first line of the key file is the current key in base64; each further line has a previous key and the time at which that key ends.

/**
 * Returns the text of the key file. Previous keys without an end time are not written to the key file, because these keys come from the
 * configuration.
 */
const textOf = ({ current, previous }: Keys): string =>
  [
    base64(current),
    ...previous.flatMap(({ key, untilMs }) => (untilMs === undefined ? [] : [`${base64(key)} until ${new Date(untilMs).toISOString()}`])),
  ]
    .map((line) => `${line}\n`)
    .join("");

const base64 = (key: Uint8Array): string => Buffer.from(key).toString("base64");

function keysIn(file: string): Keys {
  const [first = "", ...rest] = readFileSync(file, "utf8").trim().split("\n");
  const previous = rest.map((line) => {
    const [encoded = "", end = ""] = line.split(" until ");
    return { key: keyIn(encoded, file), untilMs: Date.parse(end) };
  });
  if (previous.some(({ untilMs }) => Number.isNaN(untilMs)))
    throw new ConfigProblem("--data", `${file} must contain the end time of each previous key`);
  return { current: keyIn(first, file), previous };
}

function keyIn(encoded: string, file: string): Uint8Array {
  const key = Buffer.from(encoded, "base64");
  if (key.length !== SECRET_KEY_BYTES) throw new ConfigProblem("--data", `${file} must contain a key of ${SECRET_KEY_BYTES} bytes in base64`);
  return new Uint8Array(key);
}

/**
 * Creates the key file under a temporary name, and links the complete file to its final name. If two servers start for the first time at once, both
 * use the key that was linked first.
 */
function createFile(folder: string, file: string, text: string): void {
  makeFolder(folder);
  if (readdirSync(folder).some((name) => name.endsWith(".sqlite"))) {
    throw new ConfigProblem("--data", `${file} is missing, and the data in ${folder} needs its key: restore the file, or set PLAZA_SECRET_KEY`);
  }
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, text, { mode: 0o600 });
  sync(whole);
  try {
    linkSync(whole, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(whole);
  }
  syncFolder(folder);
}
