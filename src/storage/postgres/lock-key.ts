import { createHash } from "node:crypto";

const digest = (parts: readonly string[]): Buffer => createHash("sha256").update(JSON.stringify(parts)).digest();

/** Advisory locks are numbers, and shared by all schemas of a database: 64 bits of a hash, as a signed decimal. */
export const lockKey = (schema: string, purpose: string): string => digest([schema, purpose, ""]).readBigInt64BE().toString();

/** Few enough that their rows stay in memory, and so many that two names seldom share one. */
export const LOCK_SLOTS = 1_024;

/** The row of `locks` for a name. */
export const lockSlot = (scope: string, key: string): number => digest([scope, key]).readUInt32BE() % LOCK_SLOTS;
