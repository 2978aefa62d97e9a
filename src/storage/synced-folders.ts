/** Folders that survive a power failure: the system keeps a new name for sure only when the folder that it stands in is synced. */
import { closeSync, cpSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Makes the folder and those above it that are missing, for their owner alone. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const path of missing) syncFolder(dirname(path));
}

/** Copies a folder with all that is in it to a place where nothing is yet. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, errorOnExist: true, force: false });
  for (const entry of readdirSync(to, { recursive: true, encoding: "utf8" })) sync(join(to, entry));
  syncFolder(to);
  syncFolder(dirname(to));
}

/** Files that were created or renamed in the folder keep their names after a power failure. */
export const syncFolder = (folder: string): void => sync(folder);

export function sync(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
