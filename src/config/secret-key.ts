/** The master key, from which the keys for sealed secrets and cursors are derived. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigProblem } from "./config.ts";
import { SECRET_KEY_BYTES } from "./option-readers.ts";

const SECRET_KEY_FILE = "secret.key";

/**
 * The configured key, or else the key file of the data folder, which the first start creates, readable by its owner only. Data
 * in memory gets a random key. A PostgreSQL sandbox has a fixed key, so that its processes agree; it protects nothing, and
 * `readConfig` refuses it without the sandbox.
 */
export function masterKeyOf(config: Config, randomKey: (byteCount: number) => Uint8Array): Uint8Array {
  if (config.secret_key !== undefined) return config.secret_key;
  if (config.data === ":memory:") return randomKey(SECRET_KEY_BYTES);
  if (config.data.startsWith("postgres")) return new Uint8Array(createHash("sha256").update("plaza sandbox key").digest());
  const file = join(config.data, SECRET_KEY_FILE);
  if (!existsSync(file)) writeKey(config.data, file, randomKey(SECRET_KEY_BYTES));
  const key = Buffer.from(readFileSync(file, "utf8").trim(), "base64");
  if (key.length !== SECRET_KEY_BYTES) throw new ConfigProblem("--data", `${file} must contain a key of ${SECRET_KEY_BYTES} bytes in base64`);
  return new Uint8Array(key);
}

/** Links the file to its name only when it is complete. If two first starts run at once, both use the key of the first link. */
function writeKey(folder: string, file: string, key: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).some((name) => name.endsWith(".sqlite"))) {
    throw new ConfigProblem("--data", `${file} is missing, and the data in ${folder} needs its key: restore the file, or set PLAZA_SECRET_KEY`);
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
