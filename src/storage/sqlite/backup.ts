import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Writes all that was committed before to a new file, while others read and write on. Throws where there is such a file. */
export function copyDatabase(file: string, to: string): void {
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
