/**
 * The files by which commands find a running server. These files are in the server's data folder, and have its addresses and the control key of a
 * sandbox. For a server without a data folder (in memory, PostgreSQL), commands need options or variables that point to it.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "#storage/synced-folders";
import { type Config, ConfigProblem } from "./config.ts";
import { controlKey } from "./option-readers.ts";

const KEY_FILE = "control.key";
const SERVER_FILE = "server.json";
/** The size of a new control key: 192 bits. */
const CONTROL_KEY_BYTES = 24;

export interface ServerInfo {
  readonly pid: number;
  readonly base_url: string;
  readonly control_url: string;
}

export const isFolder = (data: string): boolean => data !== ":memory:" && !data.startsWith("postgres");

const folderOf = (data: string): string | undefined => (isFolder(data) ? data : undefined);

/**
 * The key of the control API. A sandbox stores the key in its data folder, so that it is the same after a restart; a key of the operator replaces the
 * stored key. Without the sandbox, the key is stored nowhere. The caller must have locked the folder.
 */
export function controlKeyOf(config: Pick<Config, "control_key" | "data" | "sandbox">, randomSecret: (byteCount: number) => string): string {
  const folder = folderOf(config.data);
  if (folder === undefined || !config.sandbox) return config.control_key ?? randomSecret(CONTROL_KEY_BYTES);
  const file = join(folder, KEY_FILE);
  const kept = readKey(file);
  const key = config.control_key ?? kept ?? randomSecret(CONTROL_KEY_BYTES);
  if (key !== kept) replaceFile(file, `${key}\n`);
  return key;
}

/** Replaces the key in the folder, if the stored key is one that was replaced. */
export function keepReplacedKey(config: Pick<Config, "data" | "sandbox">, isReplaced: (key: string) => boolean, key: string): void {
  const folder = folderOf(config.data);
  if (folder === undefined || !config.sandbox) return;
  const file = join(folder, KEY_FILE);
  const kept = readKey(file);
  if (kept !== undefined && isReplaced(kept)) replaceFile(file, `${key}\n`);
}

function readKey(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const key = readFileSync(file, "utf8").trim();
  try {
    return controlKey(key) as string;
  } catch (error) {
    throw new ConfigProblem("--data", `${file} contains no control key: it ${(error as Error).message}; delete it, and the next start creates one`);
  }
}

/** Writes the addresses of the server into its file. Returns a function that deletes the file. */
export function announceServer(config: Pick<Config, "data">, info: ServerInfo): () => void {
  const folder = folderOf(config.data);
  if (folder === undefined) return () => {};
  const file = join(folder, SERVER_FILE);
  replaceFile(file, `${JSON.stringify(info)}\n`, false);
  return () => rmSync(file, { force: true });
}

/** Finds the server that runs on the data, by its file, and the stored control key. */
export function findServer(data: string): { readonly info: ServerInfo | undefined; readonly controlKey: string | undefined } {
  const folder = folderOf(data);
  if (folder === undefined) return { info: undefined, controlKey: undefined };
  return { info: readInfo(join(folder, SERVER_FILE)), controlKey: readKey(join(folder, KEY_FILE)) };
}

/** Reads the server's file. Undefined if the process in the file no longer runs: a killed server leaves the file behind. */
function readInfo(file: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(file, "utf8")) as ServerInfo;
    process.kill(info.pid, 0);
    return info;
  } catch {
    return undefined;
  }
}
