/**
 * What a running server leaves in its data folder, so that the commands find it: its addresses, and the control key of a sandbox.
 * Data in memory and PostgreSQL have no folder; there options or variables name the server to the commands.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigProblem } from "./config.ts";
import { controlKey } from "./option-readers.ts";

const KEY_FILE = "control.key";
const SERVER_FILE = "server.json";
/** 192 bits. */
const CONTROL_KEY_BYTES = 24;

export interface ServerInfo {
  readonly pid: number;
  readonly base_url: string;
  readonly control_url: string;
}

export const isFolder = (data: string): boolean => data !== ":memory:" && !data.startsWith("postgres");

const folderOf = (data: string): string | undefined => (isFolder(data) ? data : undefined);

/**
 * The key of the control API. A sandbox keeps it in its folder, so that it stays the same from start to start; a key that the
 * operator gives replaces it there. Without the sandbox, the given key is stored nowhere. The folder has to be locked.
 */
export function controlKeyOf(config: Pick<Config, "control_key" | "data" | "sandbox">, randomSecret: (byteCount: number) => string): string {
  const folder = folderOf(config.data);
  if (folder === undefined || !config.sandbox) return config.control_key ?? randomSecret(CONTROL_KEY_BYTES);
  const file = join(folder, KEY_FILE);
  const kept = readKey(file);
  const key = config.control_key ?? kept ?? randomSecret(CONTROL_KEY_BYTES);
  if (key !== kept) writeWhole(file, `${key}\n`);
  return key;
}

/** The key that the folder keeps was replaced by this one. Any other key is none of the folder's. */
export function keepReplacedKey(config: Pick<Config, "data" | "sandbox">, isReplaced: (key: string) => boolean, key: string): void {
  const folder = folderOf(config.data);
  if (folder === undefined || !config.sandbox) return;
  const file = join(folder, KEY_FILE);
  const kept = readKey(file);
  if (kept !== undefined && isReplaced(kept)) writeWhole(file, `${key}\n`);
}

function readKey(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const key = readFileSync(file, "utf8").trim();
  try {
    return controlKey(key) as string;
  } catch (error) {
    throw new ConfigProblem("--data", `${file} holds no control key: it ${(error as Error).message}; delete it, and the next start makes one`);
  }
}

/** A command never sees half a file. */
function writeWhole(file: string, text: string): void {
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, text, { mode: 0o600 });
  renameSync(whole, file);
}

/** Says where the server is. Returns a function that takes it back. */
export function announceServer(config: Pick<Config, "data">, info: ServerInfo): () => void {
  const folder = folderOf(config.data);
  if (folder === undefined) return () => {};
  const file = join(folder, SERVER_FILE);
  writeWhole(file, `${JSON.stringify(info)}\n`);
  return () => rmSync(file, { force: true });
}

/** The server that runs on the data, or seems to, and the key if it is kept there. */
export function findServer(data: string): { readonly info: ServerInfo | undefined; readonly controlKey: string | undefined } {
  const folder = folderOf(data);
  if (folder === undefined) return { info: undefined, controlKey: undefined };
  return { info: readInfo(join(folder, SERVER_FILE)), controlKey: readKey(join(folder, KEY_FILE)) };
}

/** A server that was killed leaves its file behind. */
function readInfo(file: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(file, "utf8")) as ServerInfo;
    process.kill(info.pid, 0);
    return info;
  } catch {
    return undefined;
  }
}
