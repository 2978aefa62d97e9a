/**
 * Checks the files of worlds for damage. The check runs in a separate process, because SQLite reads a file without interruption, at 3 s per gigabyte
 * (measured). The process that checks is killed when the time limit for the check is over (D-343).
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "#jobs/child-process";

export interface CheckedFile {
  readonly file: string;
  /** The file's damage; undefined if the file is intact. */
  readonly problem: string | undefined;
}

export interface DataCheck {
  readonly checked: readonly CheckedFile[];
  /** The files that the check did not read completely within the time limit. */
  readonly unfinished: readonly string[];
}

/** Returns the files of worlds that are larger than a size, smallest first. */
export const worldFiles = (folder: string, bytesMin = 0): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(folder, name))
    .map((file) => ({ file, size: statSync(file).size }))
    .filter(({ size }) => size > bytesMin)
    .sort((one, other) => one.size - other.size)
    .map(({ file }) => file);

/** Checks files for damage, for at most `withinMs` milliseconds. The parameter `signal` ends the check early. */
export function checkFiles(files: readonly string[], withinMs: number, signal?: AbortSignal): Promise<DataCheck> {
  const checked: CheckedFile[] = [];
  return new Promise((resolve) => {
    const child = startChild("check-data");
    const stop = (): void => void child.kill("SIGKILL");
    // A timer kills the process that checks the files, because that process cannot end itself while it reads.
    const timer = setTimeout(stop, withinMs);
    timer.unref();
    signal?.addEventListener("abort", stop, { once: true });
    child.on("message", (one: CheckedFile) => checked.push(one));
    child.on("error", stop);
    child.on("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve({ checked, unfinished: files.filter((file) => !checked.some((one) => one.file === file)) });
    });
    child.send(files);
  });
}
