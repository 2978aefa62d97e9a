/**
 * Reads the texts of case files and worlds while the program is bundled, as a macro of `files.ts`. Because of the macro, a build, a
 * package and an executable of Plaza contain the texts of the cases.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Reads the texts below a folder, by their paths in the folder. The path of the folder is relative to this file. */
export function textsBelow(folder: string): Record<string, string> {
  const root = join(import.meta.dirname, folder);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => /\.(yaml|md)$/.test(path));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(root, path), "utf8")]));
}
