/**
 * Describes the machine of a bench, and measures the CPU time and memory of a process. The measurements work only on Linux, because all values come
 * from /proc.
 */
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** The clock ticks per second in /proc/<pid>/stat: 100 on every current Linux (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gb: number;
  readonly kernel: string;
  readonly bun: string;
  readonly wrk: string;
  /** Whether server and client each ran on a core of their own. */
  readonly is_pinned: boolean;
}

export interface Cores {
  readonly server: number;
  readonly client: number;
}

/** Chooses a core for the server and one for the client. Returns undefined if there is only one core, or if taskset is not installed. */
export function chooseCores(): Cores | undefined {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  const allowed = list.split(",").flatMap((part) => {
    const [from = 0, to = from] = part.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  const [server, client] = allowed;
  return server === undefined || client === undefined || Bun.which("taskset") === null ? undefined : { server, client };
}

export const onCore = (core: number | undefined): string[] => (core === undefined ? [] : ["taskset", "-c", String(core)]);

export function describeMachine(wrkVersion: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    bun: Bun.version,
    wrk: wrkVersion,
    is_pinned: chooseCores() !== undefined,
  };
}

/** Returns the CPU time of all threads of a process since its start, in µs. The CPU time grows in steps of 10 ms. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in parentheses, which may contain blanks, so fields are counted from the closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
}

export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

/** Returns the greatest resident memory of a process since its start. */
export function peakMegabytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
