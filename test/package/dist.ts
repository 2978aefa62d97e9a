/** Lets one test process at a time use `dist/`, because all processes share this folder, and each packing rewrites it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning } from "#harness/processes/children";

const LOCK = join(import.meta.dir, "../../node_modules/.cache/dist.lock");

function take(): boolean {
  mkdirSync(dirname(LOCK), { recursive: true });
  try {
    writeFileSync(LOCK, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    // The lock of `dist/` may belong to a run that was killed. The other run may also have removed the lock just now.
    const holder = existsSync(LOCK) ? readFileSync(LOCK, "utf8") : "";
    if (holder !== "" && !isRunning(Number(holder))) rmSync(LOCK, { force: true });
    return false;
  }
}

export async function withDist<T>(work: () => Promise<T>): Promise<T> {
  while (!take()) await Bun.sleep(100);
  try {
    return await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}
