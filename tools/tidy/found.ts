/** Runs a check on made-up files, for the tests of the checks. */
import type { Check, RepositoryFile } from "./repository.ts";

/** Returns the problems that a check finds in made-up files, as `path:line`. */
export const found = (check: Check, files: Readonly<Record<string, string>>): string[] =>
  check(Object.entries(files).map(([path, text]): RepositoryFile => ({ path, text }))).map(({ path, line }) => `${path}:${line}`);
