import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../synced-folders.ts";
import { statesFolder } from "./saved-states.ts";

const FILE = ".sqlite";

/**
 * Copies the files of the worlds, and no other files. Each copied file contains everything that was committed before the copying of this file began;
 * reads and writes of the worlds continue during the copying. The function throws if one of the new files already exists.
 */
export function copyWorlds(folder: string, to: string): void {
  for (const file of readdirSync(folder)) if (file.endsWith(FILE)) copyDatabase(join(folder, file), join(to, file));
  syncFolder(to);
}

function copyDatabase(file: string, to: string): void {
  const source = new Database(file, { readonly: true });
  try {
    // The copy uses a separate reading connection, so that the server can continue to write.
    source.run("VACUUM INTO ?", [to]);
  } finally {
    source.close();
  }
  const copy = openSync(to, "r+");
  fsyncSync(copy);
  closeSync(copy);
}

export const worldsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith(FILE))
        .map((file) => file.slice(0, -FILE.length))
        .sort()
    : [];

export function removeSqlite(folder: string, world: string): void {
  // The main database file is removed before its log: a log without its file is harmless (`placeFile`), but a file without its log would lack the
  // last writes.
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `${world}.sqlite${suffix}`), { force: true });
  rmSync(statesFolder(folder, world), { recursive: true, force: true });
}
