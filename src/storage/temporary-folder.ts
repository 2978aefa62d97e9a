/** Makes private folders. A temporary folder is removed when the program ends, or, if the program was killed, by the next program. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

/** The name of a file in the folder; the file names the process that owns the folder. */
const OWNER = "owner.json";

/**
 * Returns a new folder that only its owner can read. The function also removes the temporary folders of killed programs, and calls `onFailure` if it
 * cannot remove one of them.
 */
export function makeTemporaryFolder(
  purpose: string,
  onFailure: (error: unknown) => void,
  parent = tmpdir(),
): { readonly folder: string; remove(): void } {
  const prefix = `plaza-${purpose}-`;
  const folder = mkdtempSync(join(parent, prefix));
  writeFileSync(join(folder, OWNER), JSON.stringify({ host: hostname(), pid: process.pid }));
  removeAbandoned(parent, prefix).catch(onFailure);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix) && isAbandoned(join(parent, name))) await rm(join(parent, name), { recursive: true, force: true });
  }
}

/**
 * Whether the program that owns the folder has ended. The function never calls a folder ended that has no owner, or that belongs to another machine
 * or container on the same disk.
 */
function isAbandoned(folder: string): boolean {
  try {
    const { host, pid } = JSON.parse(readFileSync(join(folder, OWNER), "utf8")) as { host: unknown; pid: unknown };
    return host === hostname() && typeof pid === "number" && !isRunning(pid);
  } catch {
    return false;
  }
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The error EPERM means that the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
