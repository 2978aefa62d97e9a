/** Runs while the program is put together, as a macro of `files.ts`: a build, a package and an executable hold the texts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** By path below the folder, which is named from here. */
export function textsBelow(folder: string): Record<string, string> {
  const root = join(import.meta.dirname, folder);
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => /\.(yaml|md)$/.test(path));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(root, path), "utf8")]));
}
