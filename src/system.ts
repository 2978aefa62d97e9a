/** The real clock, ids and randomness; everything else is given them, so a world can be steered and repeated. */
import { createHmac, randomBytes } from "node:crypto";
import type { IdMinter, NodeId } from "#kernel/ids";
import { nodeId } from "#kernel/ids";

export const realNowMs = (): number => Date.now();

/** Milliseconds of a clock that never goes back, for durations. */
export const monotonicMs = (): number => performance.now();

export const randomSecret = (byteCount: number): string => randomBytes(byteCount).toString("base64url");

/** From 0 to below 1, for chances that need no secrecy. */
export const randomFraction = (): number => Math.random();

export const randomKey = (byteCount: number): Uint8Array => randomBytes(byteCount);

/** 2026-01-01: 41 bits of milliseconds from here last until 2095. */
const EPOCH_MS = 1_767_225_600_000;
/** 12 bits: 4,096 ids a millisecond and process. */
const SEQUENCE_MAX = 4095;

/**
 * Ids of 63 bits: milliseconds (41), process (10), sequence (12), so that they grow with time and two processes never mint
 * the same (D-02). When a millisecond's sequence is used up the next one is borrowed.
 */
export class TimeOrderedIds implements IdMinter {
  #lastMs = 0;
  #sequence = 0;
  #first: FirstId = firstId(1, 0);
  /** Asked at each mint: after an outage the database may give this process another number. */
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
    const process = this.#processNumber();
    if (this.#first.ms !== this.#lastMs || this.#first.process !== process) this.#first = firstId(this.#lastMs, process);
    const { head, tail, value } = this.#first;
    const last = tail + this.#sequence;
    return (head !== "" && last < TAIL ? head + String(last).padStart(TAIL_DIGITS, "0") : String(value + BigInt(this.#sequence))) as NodeId;
  }
}

/** Ids of one millisecond differ in their last digits alone: counting those spares big integers, and two thirds of the time. */
interface FirstId {
  readonly ms: number;
  readonly process: number;
  readonly value: bigint;
  readonly head: string;
  readonly tail: number;
}

const TAIL_DIGITS = 9;
const TAIL = 10 ** TAIL_DIGITS;

function firstId(ms: number, process: number): FirstId {
  const value = (BigInt(ms) << 22n) | (BigInt(process) << 12n);
  const text = String(value);
  return { ms, process, value, head: text.slice(0, -TAIL_DIGITS), tail: Number(text.slice(-TAIL_DIGITS)) };
}

/** `--seed`: ids count up from `next`, which the world keeps from start to start, so that a script sees the same ids each time. */
export class SeededIds implements IdMinter {
  #next: bigint;
  constructor(next: bigint) {
    this.#next = next;
  }
  mint(): NodeId {
    return nodeId(String(this.#next++));
  }
}

/** Token values: random, or with a seed derived from the token's own id, so that they repeat with the ids. */
export function tokenValue(seed: number | undefined, id: NodeId): string {
  const body = seed === undefined ? randomSecret(32) : createHmac("sha256", `plaza seed ${seed}`).update(id).digest("base64url");
  return `PLZ${body.replaceAll("-", "x").replaceAll("_", "y")}`;
}

/** 4,096 random characters at a time: a trace id costs no system call. */
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

/** For waits that somebody asked for; work that recurs belongs to jobs/. */
export const sleepMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** All at once: some 20 ms for a program of usual size. */
export const collectGarbage = (): void => Bun.gc(true);
