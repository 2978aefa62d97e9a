/**
 * Lets only one process at a time use a data folder. The lock on the folder is a lock of the operating system (fcntl, which SQLite takes on the file
 * `plaza.lock`), so that a killed process leaves no lock behind.
 *
 * NOTE: fcntl locks belong to the process: no other code may open and close `plaza.lock` while the process holds the lock.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../temporary-folder.ts";

/** The error if another process has the data folder open, or if this process already has the world open. */
export class FolderInUse extends Error {
  constructor(
    readonly folder: string,
    what: string,
    /** The id of the process that holds the lock; undefined if the id is not known. */
    readonly pid: number | undefined,
  ) {
    super(
      `${what} ${pid === undefined ? "in use by another running process, or already open in this process" : `in use by another running process (${pid})`}: ${folder}`,
    );
    this.name = "FolderInUse";
  }
}

interface HeldFolder {
  readonly lock: Database;
  readonly worlds: Set<string>;
}

/** The folders that this process has locked, by their real paths. The worlds in a folder share one lock. */
const held = new Map<string, HeldFolder>();

/**
 * Locks the data folder for this process, and reserves `world` for the caller. Returns a function that releases the folder and the world. Throws
 * `FolderInUse` at once if another process has locked the folder, or if the world is already open.
 */
export function holdFolder(folder: string, world: string): () => void {
  const path = realpathSync(folder);
  let entry = held.get(path);
  if (entry === undefined) {
    entry = { lock: lockFolder(path), worlds: new Set() };
    held.set(path, entry);
  }
  const { lock, worlds } = entry;
  if (worlds.has(world)) throw new FolderInUse(path, `the world ${world} is`, undefined);
  worlds.add(world);
  return () => {
    worlds.delete(world);
    if (worlds.size > 0) return;
    held.delete(path);
    rmSync(join(path, HOLDER), { force: true });
    lock.close();
  };
}

/**
 * The path of the file with the id of the process that has the lock. The id in this file is used only in messages, because a killed process leaves
 * the file behind.
 */
const HOLDER = "plaza.pid";

function nameHolder(path: string): void {
  try {
    writeFileSync(join(path, HOLDER), `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // The failure is ignored, because a full disk must not prevent a start. Without the file with the process's id, error messages do not state the
    // id.
  }
}

/**
 * Returns the id of the process that holds the lock, or undefined if this process cannot see that process, for example because it runs in another
 * container.
 */
function holderOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(path, HOLDER), "utf8"));
    return pid > 0 && isRunning(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function lockFolder(path: string): Database {
  const file = join(path, "plaza.lock");
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const lock = new Database(file);
  try {
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    nameHolder(path);
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") throw new FolderInUse(path, "the data folder is", holderOf(path));
    throw error;
  }
}
