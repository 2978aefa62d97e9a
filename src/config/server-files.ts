/**
 * The files with which commands find a running server. These files are in the server's data folder, and contain the server's addresses and a
 * sandbox's control key. If a server has no data folder (memory, PostgreSQL), commands need options or variables to find the server.
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
 * Returns the key of the control API. A sandbox stores the control key in its data folder, so that the key does not change when the sandbox is
 * restarted. A key that the operator configures replaces the stored key. Outside the sandbox the control key is not stored. The caller must have
 * locked the data folder.
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

/** Stores a new control key in the data folder, if the stored key has been replaced. */
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
    throw new ConfigProblem(
      "--data",
      `${file} contains no control key: it ${(error as Error).message}; delete the file, and the next start creates a key`,
    );
  }
}

/** Writes the addresses of the server to a file in the data folder. Returns a function that deletes this file. */
export function announceServer(config: Pick<Config, "data">, info: ServerInfo): () => void {
  const folder = folderOf(config.data);
  if (folder === undefined) return () => {};
  const file = join(folder, SERVER_FILE);
  replaceFile(file, `${JSON.stringify(info)}\n`, false);
  return () => rmSync(file, { force: true });
}

/** Reads the file of the server that uses the data, and the stored control key. */
export function findServer(data: string): { readonly info: ServerInfo | undefined; readonly controlKey: string | undefined } {
  const folder = folderOf(data);
  if (folder === undefined) return { info: undefined, controlKey: undefined };
  return { info: readInfo(join(folder, SERVER_FILE)), controlKey: readKey(join(folder, KEY_FILE)) };
}

/**
 * Reads the file with the server's addresses. A killed server leaves this file behind, so the result is undefined if the server's process no longer
 * runs.
 */
function readInfo(file: string): ServerInfo | undefined {
  try {
    const info = JSON.parse(readFileSync(file, "utf8")) as ServerInfo;
    process.kill(info.pid, 0);
    return info;
  } catch {
    return undefined;
  }
}
