/**
 * One process at a time uses a data folder. The lock is an operating-system lock (fcntl, taken by SQLite on a file of its
 * own), so that a killed process leaves no lock behind.
 *
 * NOTE: fcntl locks belong to the process: other code must not open and close `plaza.lock` while the lock is held.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Another process, or this one, has the folder or the world in it open. */
export class FolderInUse extends Error {
  constructor(
    readonly folder: string,
    what: string,
  ) {
    super(`${what} in use by another running process or an earlier open: ${folder}`);
    this.name = "FolderInUse";
  }
}

interface HeldFolder {
  readonly lock: Database;
  readonly worlds: Set<string>;
}

/** Folders that this process has locked, by real path. Its worlds share one lock. */
const held = new Map<string, HeldFolder>();

/** Takes the folder for this process and `world` for the caller, or throws `FolderInUse` at once. Returns a function that releases both. */
export function holdFolder(folder: string, world: string): () => void {
  const path = realpathSync(folder);
  let entry = held.get(path);
  if (entry === undefined) {
    entry = { lock: lockFolder(path), worlds: new Set() };
    held.set(path, entry);
  }
  const { lock, worlds } = entry;
  if (worlds.has(world)) throw new FolderInUse(path, `the world ${world} is`);
  worlds.add(world);
  return () => {
    worlds.delete(world);
    if (worlds.size > 0) return;
    held.delete(path);
    lock.close();
  };
}

function lockFolder(path: string): Database {
  const file = join(path, "plaza.lock");
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const lock = new Database(file);
  try {
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") throw new FolderInUse(path, "the data folder is");
    throw error;
  }
}
