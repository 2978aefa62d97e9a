import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../synced-folders.ts";

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
