import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../synced-folders.ts";
import { statesFolder } from "./saved-states.ts";

const FILE = ".sqlite";

/**
 * Copies the file of each world, and after them nothing else. Each copy holds all that was committed before it began, while others read
 * and write on. Throws where there is such a file already.
 */
export function copyWorlds(folder: string, to: string): void {
  for (const file of readdirSync(folder)) if (file.endsWith(FILE)) copyDatabase(join(folder, file), join(to, file));
  syncFolder(to);
}

function copyDatabase(file: string, to: string): void {
  const source = new Database(file, { readonly: true });
  try {
    // A reader of its own, so that the server's writes go on meanwhile.
    source.run("VACUUM INTO ?", [to]);
  } finally {
    source.close();
  }
  const copy = openSync(to, "r+");
  fsyncSync(copy);
  closeSync(copy);
}

export function removeSqlite(folder: string, world: string): void {
  // A log without its file is harmless (`placeFile`); a file without its log would lack what was written last.
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `${world}.sqlite${suffix}`), { force: true });
  rmSync(statesFolder(folder, world), { recursive: true, force: true });
}
