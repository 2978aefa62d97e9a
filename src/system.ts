/** The real clock, ids and randomness. All other code receives them, so that a world can be controlled and repeated. */
import { fullGC } from "bun:jsc";
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { IdMinter, NodeId } from "#kernel/ids";
import { nodeId } from "#kernel/ids";

export const realNowMs = (): number => Date.now();

/** The milliseconds of a monotonic clock, for durations. */
export const monotonicMs = (): number => performance.now();

/** The CPU time of the calling thread since its start, in ms. Reading it takes less than a microsecond. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export const randomSecret = (byteCount: number): string => randomBytes(byteCount).toString("base64url");

export const randomHex = (byteCount: number): string => randomBytes(byteCount).toString("hex");

/** A random number from 0 to below 1, for uses that need no secrecy. */
export const randomFraction = (): number => Math.random();

export const randomKey = (byteCount: number): Uint8Array => randomBytes(byteCount);

/** The beginning of 2026, from which ids count: 41 bits of milliseconds last until 2095. */
const EPOCH_MS = 1_767_225_600_000;
/** The largest sequence number, of 12 bits: a process can make 4,096 ids a millisecond. */
const SEQUENCE_MAX = 4095;

/**
 * Makes ids of 63 bits: milliseconds (41), process (10), sequence (12). Ids therefore grow with time, and two processes never make the same id
 * (D-02). If the sequence of a millisecond is used up, the next millisecond is used early.
 */
export class TimeOrderedIds implements IdMinter {
  #lastMs = 0;
  #sequence = 0;
  /** Reads the process number. The number is read for each id, because the database can assign another number after an outage. */
  readonly #processNumber: () => number;
  constructor(processNumber: () => number) {
    this.#processNumber = processNumber;
  }

  mint(): NodeId {
    const now = Math.max(realNowMs() - EPOCH_MS, 1);
    if (now > this.#lastMs) {
      this.#lastMs = now;
      this.#sequence = 0;
    } else if (++this.#sequence > SEQUENCE_MAX) {
      this.#lastMs++;
      this.#sequence = 0;
    }
    return String((BigInt(this.#lastMs) << 22n) | BigInt((this.#processNumber() << 12) | this.#sequence)) as NodeId;
  }
}

/** The ids with `--seed`: they count up from `next`, which the world stores, so that a script sees the same ids each time. */
export class SeededIds implements IdMinter {
  #next: bigint;
  constructor(next: bigint) {
    this.#next = next;
  }
  mint(): NodeId {
    return nodeId(String(this.#next++));
  }
}

/** The value of a new token. The value is random; with a seed it is derived from the token's id, so that the values repeat with the ids. */
export function tokenValue(seed: number | undefined, id: NodeId): string {
  const body = seed === undefined ? randomSecret(32) : createHmac("sha256", `plaza seed ${seed}`).update(id).digest("base64url");
  return `PLZ${body.replaceAll("-", "x").replaceAll("_", "y")}`;
}

/** The number of random bytes that are made at once: they give 4,096 characters, so most trace ids need no system call. */
const POOL_BYTES = 3_072;
let pool = randomSecret(POOL_BYTES);
let poolAt = 0;

/** A trace id of 11 characters, which are 66 bits: enough to find one request among all logs. */
export function traceId(): string {
  if (poolAt + 11 > pool.length) {
    pool = randomSecret(POOL_BYTES);
    poolAt = 0;
  }
  poolAt += 11;
  return `A${pool.slice(poolAt - 11, poolAt)}`;
}

/** Waits, if a caller requested the wait; recurring work belongs to `src/jobs`. */
export const sleepMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects all garbage at once and gives its memory back to the system. The collection takes some 20 to 40 ms for a program of usual size. */
export const collectGarbage = (): void => Bun.gc(true);

/** Collects all garbage, but leaves its memory to the program. Leaving the memory to the program takes half the time of `collectGarbage`. */
export const collectValues = fullGC;

/** The number of files that this process may have open; undefined if the system does not report it as Linux does. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** The number of files that this process has open; undefined if the system does not report it as Linux does. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

export const runtimeVersion = `bun ${Bun.version}`;

/** Facts about this process, for metrics. */
export function processFacts(name: string) {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    process: name,
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuSeconds: (user + system) / 1_000_000,
    uptimeSeconds: process.uptime(),
    startedSeconds: performance.timeOrigin / 1000,
    openFiles: openFiles(),
    openFilesMax: openFilesMax(),
  };
}

/** Whether this process may open one more file. */
export function canOpenFile(): boolean {
  try {
    closeSync(openSync("/dev/null", "r"));
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE"));
  }
}
