/** Recordings of data in memory: a folder that goes with the program, or with the next one where this one is killed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "plaza-recordings-";
/** Whose folder it is. */
const OWNER = "owner.json";

/** Returns the folder. Those of servers that were killed are removed beside. */
export function makeTemporaryRecordings(onFailure: (error: unknown) => void, parent = tmpdir()): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(parent, PREFIX));
  writeFileSync(join(folder, OWNER), JSON.stringify({ host: hostname(), pid: process.pid }));
  removeAbandoned(parent).catch(onFailure);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(PREFIX) && isAbandoned(join(parent, name))) await rm(join(parent, name), { recursive: true, force: true });
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

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
