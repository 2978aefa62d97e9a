/** Other processes, as `/proc` has them, or elsewhere than on Linux `ps`. */
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

/** The processes that `pid` has started and that are there, those that have ended and are not reaped among them. */
export function childrenOf(pid: number): number[] {
  const all = hasProc ? readdirSync("/proc") : Bun.spawnSync(["ps", "-A", "-o", "pid="]).stdout.toString().split("\n");
  const pids = all.map((text) => text.trim()).filter((text) => /^\d+$/.test(text));
  return pids.map(Number).filter((each) => lookUp(each)?.parent === pid);
}

/** False also for a zombie: it has ended, and is only not reaped yet. */
export function isRunning(pid: number): boolean {
  const known = lookUp(pid);
  return known !== undefined && !known.state.startsWith("Z");
}
