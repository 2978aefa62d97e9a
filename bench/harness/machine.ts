/** The machine that a bench ran on, and what a process costs. Linux only: everything is read from /proc. */
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** Clock ticks a second in /proc/<pid>/stat: 100 on every Linux of today (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gb: number;
  readonly kernel: string;
  readonly bun: string;
  readonly wrk: string;
  /** Server and client each had a core of their own. */
  readonly is_pinned: boolean;
}

export interface Cores {
  readonly server: number;
  readonly client: number;
}

/** A core for the server and one for the client; undefined where there is no second one, or no taskset. */
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

/** CPU time of all threads of a process since its start, in µs, in steps of 10 ms. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in parentheses and may hold blanks: fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
}

export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

/** The most that was resident since the start. */
export function peakMegabytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
