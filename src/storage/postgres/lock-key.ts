import { createHash } from "node:crypto";

/** Advisory locks are numbers, and shared by all schemas of a database: 64 bits of a hash, as a signed decimal. */
export function lockKey(schema: string, scope: string, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([schema, scope, key]))
    .digest()
    .readBigInt64BE()
    .toString();
}

/** Locks with two numbers of 32 bits are separate from those above. This is the first; the caller chooses the second. */
export function lockClass(schema: string, purpose: string): number {
  return createHash("sha256")
    .update(JSON.stringify([schema, purpose]))
    .digest()
    .readInt32BE();
}
