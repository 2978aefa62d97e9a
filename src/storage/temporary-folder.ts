/** A private folder that goes with the program, or with the next one where this one is killed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

/** Whose folder it is. */
const OWNER = "owner.json";

/** Returns the folder, for its owner alone. Those of programs that were killed are removed beside; `onFailure`: they could not be. */
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

/** A folder that does not say whose it is, or is of another machine or container that shares this disk, stays. */
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
    // Somebody else's process.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
