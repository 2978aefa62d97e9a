/** The real clock, ids and randomness. All other code receives them, so that a world can be controlled and repeated. */
import { fullGC } from "bun:jsc";
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { IdMinter, NodeId } from "#kernel/ids";
import { nodeId } from "#kernel/ids";

export const realNowMs = (): number => Date.now();

/** Milliseconds of a monotonic clock, for durations. */
export const monotonicMs = (): number => performance.now();

/** CPU time of this process since its start. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export const randomSecret = (byteCount: number): string => randomBytes(byteCount).toString("base64url");

export const randomHex = (byteCount: number): string => randomBytes(byteCount).toString("hex");

/** From 0 to below 1, for uses that need no secrecy. */
export const randomFraction = (): number => Math.random();

export const randomKey = (byteCount: number): Uint8Array => randomBytes(byteCount);

/** 2026-01-01: 41 bits of milliseconds from here last until 2095. */
const EPOCH_MS = 1_767_225_600_000;
/** 12 bits: 4,096 ids a millisecond and process. */
const SEQUENCE_MAX = 4095;

/**
 * Ids of 63 bits: milliseconds (41), process (10), sequence (12), so that they grow with time and two processes never mint
 * the same (D-02). When the sequence of a millisecond is used up, the next millisecond is used early.
 */
export class TimeOrderedIds implements IdMinter {
  #lastMs = 0;
  #sequence = 0;
  /** Read for each id, because the database can assign another number after an outage. */
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

/** `--seed`: ids count up from `next`, which the world stores, so that a script sees the same ids each time. */
export class SeededIds implements IdMinter {
  #next: bigint;
  constructor(next: bigint) {
    this.#next = next;
  }
  mint(): NodeId {
    return nodeId(String(this.#next++));
  }
}

/** Token values: random, or with a seed derived from the id of the token, so that they repeat with the ids. */
export function tokenValue(seed: number | undefined, id: NodeId): string {
  const body = seed === undefined ? randomSecret(32) : createHmac("sha256", `plaza seed ${seed}`).update(id).digest("base64url");
  return `PLZ${body.replaceAll("-", "x").replaceAll("_", "y")}`;
}

/** 4,096 random characters at a time: a trace id needs no system call. */
const POOL_BYTES = 3_072;
let pool = randomSecret(POOL_BYTES);
let poolAt = 0;

/** 11 characters, 66 bits: enough to find one request among all logs. */
export function traceId(): string {
  if (poolAt + 11 > pool.length) {
    pool = randomSecret(POOL_BYTES);
    poolAt = 0;
  }
  poolAt += 11;
  return `A${pool.slice(poolAt - 11, poolAt)}`;
}

/** For waits that a caller requests; recurring work belongs to `src/jobs`. */
export const sleepMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects all garbage at once and gives its memory back to the system: some 20 to 40 ms for a program of usual size. */
export const collectGarbage = (): void => Bun.gc(true);

/** Collects all garbage, and leaves its memory to the program: half the time. */
export const collectValues = fullGC;

/** Files that this process may have open; undefined where the system does not say so in Linux's way. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Files that this process has open; undefined where the system does not say so in Linux's way. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

export const runtimeVersion = `bun ${Bun.version}`;

/** Of this process, for metrics. */
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
