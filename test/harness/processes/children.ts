/** Finds other processes: with `/proc` on Linux, with `ps` on other systems. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

interface Known {
  readonly parent: number;
  readonly state: string;
}

const hasProc = existsSync("/proc/self/status");

function lookUp(pid: number): Known | undefined {
  if (!hasProc) {
    const [parent, state] = Bun.spawnSync(["ps", "-o", "ppid=,stat=", "-p", String(pid)])
      .stdout.toString()
      .trim()
      .split(/\s+/);
    return state === undefined ? undefined : { parent: Number(parent), state };
  }
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return { parent: Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]), state: /^State:\s+(\S)/m.exec(status)?.[1] ?? "" };
  } catch {
    return undefined;
  }
}

/** The child processes of `pid`, including those that have ended and are not reaped yet. */
export function childrenOf(pid: number): number[] {
  const all = hasProc ? readdirSync("/proc") : Bun.spawnSync(["ps", "-A", "-o", "pid="]).stdout.toString().split("\n");
  const pids = all.map((text) => text.trim()).filter((text) => /^\d+$/.test(text));
  return pids.map(Number).filter((each) => lookUp(each)?.parent === pid);
}

/** Whether a process runs. The result is also false for a zombie process, which has ended and is not reaped yet. */
export function isRunning(pid: number): boolean {
  const known = lookUp(pid);
  return known !== undefined && !known.state.startsWith("Z");
}
