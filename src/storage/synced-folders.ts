/** Creates folders and files that survive a power failure. A new name is safe on the disk only after the folder that contains it is synced. */
import { closeSync, cpSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Creates the folder and the missing folders above it. Only the owner of the created folders can read them. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const path of missing) syncFolder(dirname(path));
}

/** Copies a folder with its content to a path at which no file or folder exists. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, errorOnExist: true, force: false });
  for (const entry of readdirSync(to, { recursive: true, encoding: "utf8" })) sync(join(to, entry));
  syncFolder(to);
  syncFolder(dirname(to));
}

/**
 * Writes a file in one step: a reader sees the complete new file or, before that, the old file or no file. Only the owner of the file can read the
 * file.
 */
export function replaceFile(file: string, content: string | Uint8Array, isDurable = true): void {
  const unfinished = `${file}.new`;
  try {
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, content, { mode: 0o600 });
    if (isDurable) sync(unfinished);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  if (isDurable) syncFolder(dirname(file));
}

/** Syncs the folder, so that files that were created or renamed in it keep their names after a power failure. */
export const syncFolder = (folder: string): void => sync(folder);

export function sync(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
