/** Folders that survive a power failure: the system keeps a new name for sure only when the folder that it stands in is synced. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Makes the folder and those above it that are missing, for their owner alone. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const path of missing) syncFolder(dirname(path));
}

/** What was created in the folder, or renamed, keeps its name. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
