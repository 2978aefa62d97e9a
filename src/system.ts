/**
 * The real clock, ids and randomness. All other modules receive the clock, ids and randomness as arguments, so that a test or script can control what
 * happens in a world and repeat it.
 */
import { fullGC } from "bun:jsc";
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { IdMinter, NodeId } from "#kernel/ids";
import { nodeId } from "#kernel/ids";

export const realNowMs = (): number => Date.now();

/** Returns the milliseconds of a monotonic clock, for durations. */
export const monotonicMs = (): number => performance.now();

/** Returns the CPU time of the calling thread since its start, in ms. Reading the CPU time takes less than a microsecond. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export const randomSecret = (byteCount: number): string => randomBytes(byteCount).toString("base64url");

export const randomHex = (byteCount: number): string => randomBytes(byteCount).toString("hex");

/** Returns a random number from 0 to below 1, for uses that need no secrecy. */
export const randomFraction = (): number => Math.random();

export const randomKey = (byteCount: number): Uint8Array => randomBytes(byteCount);

/** The start of 2026, from which the milliseconds in ids are counted. The 41 bits for these milliseconds last until 2095. */
const EPOCH_MS = 1_767_225_600_000;
/** The largest sequence number in an id. It has 12 bits, so a process can make 4,096 ids per millisecond. */
const SEQUENCE_MAX = 4095;

/**
 * Makes ids of 63 bits: milliseconds (41), process number (10) and sequence number (12). With this layout, later ids are larger, and two processes
 * never make the same id (D-02). If all sequence numbers of a millisecond are used, the ids continue with the next millisecond.
 */
export class TimeOrderedIds implements IdMinter {
  #lastMs = 0;
  #sequence = 0;
  /** Reads the number of this process. The number is read for each id, because the database can assign another number after an outage. */
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

/**
 * Makes the ids of a world with `--seed`. The ids count up from the number `next`, which the world stores, so that a script gets the same ids each
 * time.
 */
export class SeededIds implements IdMinter {
  #next: bigint;
  constructor(next: bigint) {
    this.#next = next;
  }
  mint(): NodeId {
    return nodeId(String(this.#next++));
  }
}

/**
 * Returns the value of a new token. The value is random. With `--seed` the value is derived from the token's id instead, so that a script gets the
 * same token values as well as the same ids.
 */
export function tokenValue(seed: number | undefined, id: NodeId): string {
  const body = seed === undefined ? randomSecret(32) : createHmac("sha256", `plaza seed ${seed}`).update(id).digest("base64url");
  return `PLZ${body.replaceAll("-", "x").replaceAll("_", "y")}`;
}

/** The number of random bytes that are made at once. 3,072 bytes give 4,096 characters, so most trace ids need no system call. */
const POOL_BYTES = 3_072;
let pool = randomSecret(POOL_BYTES);
let poolAt = 0;

/** Returns a trace id of 11 characters. The 66 bits of a trace id are enough to find one request in all logs. */
export function traceId(): string {
  if (poolAt + 11 > pool.length) {
    pool = randomSecret(POOL_BYTES);
    poolAt = 0;
  }
  poolAt += 11;
  return `A${pool.slice(poolAt - 11, poolAt)}`;
}

/** Waits for a time that a caller requested. Code for recurring work uses `src/jobs` and not this function. */
export const sleepMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects all garbage immediately and returns its memory to the system. The collection takes some 20 to 40 ms for a program of usual size. */
export const collectGarbage = (): void => Bun.gc(true);

/** Collects all garbage, but does not return its memory to the system. The function takes half the time of `collectGarbage`. */
export const collectValues = fullGC;

/** Returns the number of files that this process may have open, or undefined if the system does not report it in Linux's way. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Returns the number of files that this process has open, or undefined if the system does not report it in Linux's way. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

export const runtimeVersion = `bun ${Bun.version}`;

/** Returns facts about this process, for the metrics. */
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
