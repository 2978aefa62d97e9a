/** The master key: what sealed secrets and cursors of one data place hang on. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigProblem } from "./config.ts";
import { SECRET_KEY_BYTES } from "./option-readers.ts";

const SECRET_KEY_FILE = "secret.key";

/**
 * The configured key; else the data folder's own, made at the first start and readable by its owner alone. Data that is gone
 * with the process gets a random one. A PostgreSQL sandbox has one fixed key, so that processes agree on it: it protects
 * nothing, and is refused without the sandbox (`readConfig`).
 */
export function masterKeyOf(config: Config, randomKey: (byteCount: number) => Uint8Array): Uint8Array {
  if (config.secret_key !== undefined) return config.secret_key;
  if (config.data === ":memory:") return randomKey(SECRET_KEY_BYTES);
  if (config.data.startsWith("postgres")) return new Uint8Array(createHash("sha256").update("plaza sandbox key").digest());
  const file = join(config.data, SECRET_KEY_FILE);
  if (!existsSync(file)) writeKey(config.data, file, randomKey(SECRET_KEY_BYTES));
  const key = Buffer.from(readFileSync(file, "utf8").trim(), "base64");
  if (key.length !== SECRET_KEY_BYTES) throw new ConfigProblem("--data", `${file} does not hold a key of ${SECRET_KEY_BYTES} bytes in base64`);
  return new Uint8Array(key);
}

/** Under its name only when it is whole; of two first starts at once, the one that loses takes the other's key. */
function writeKey(folder: string, file: string, key: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).some((name) => name.endsWith(".sqlite"))) {
    throw new ConfigProblem("--data", `${file} is gone, and with it the key of the data in ${folder}: put it back, or give it in PLAZA_SECRET_KEY`);
  }
  const whole = `${file}.${process.pid}`;
  const handle = openSync(whole, "wx", 0o600);
  try {
    writeSync(handle, `${Buffer.from(key).toString("base64")}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(whole, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(whole);
  }
}
