/** The end of a transaction: the announcement of its changed facts before COMMIT, and its rollback. */
import { type Sql, sql } from "../sql.ts";
import { isReadOnlyServer, isTransient, NotPrimary } from "./failures.ts";
import type { PoolConnection } from "./pool.ts";

/**
 * The number of bytes for the changed facts in a notification, which holds 8,000 bytes at most. If the facts do not fit, the notification announces
 * that everything changed.
 */
const FACTS_BYTES_MAX = 7_500;

export async function rollback(connection: PoolConnection): Promise<void> {
  try {
    await connection.execute("ROLLBACK");
  } catch {
    // The server rolls back the open transaction of a closed connection.
    connection.isBroken = true;
  }
}

/**
 * The statement that announces changed facts, sent right before COMMIT. The generation counts the transactions that changed facts, for each slot (a
 * row that some connections share). The generation follows the order of the commits, because its row is locked until then. A process that missed a
 * notification sees that from the generation (`fact-channel.ts`). Connections rarely share a slot, so they rarely wait for each other's commits.
 */
export function announcement(schema: string, facts: readonly (readonly [kind: string, key: string])[]): Sql {
  const text = JSON.stringify(facts);
  const announced = Buffer.byteLength(text) > FACTS_BYTES_MAX ? "null" : text;
  return sql`
    WITH counted AS (
      INSERT INTO fact_generations (slot, generation) VALUES (pg_backend_pid() % 256, 1)
      ON CONFLICT (slot) DO UPDATE SET generation = fact_generations.generation + 1 RETURNING slot, generation)
    SELECT pg_notify(${schema}, slot || ' ' || generation || ' ' || ${announced}) FROM counted`;
}

/** The error of a failed transaction: PostgreSQL's own, if another attempt may help, even if the body threw an error of its own instead. */
export function failureOf(transaction: { readonly failure: unknown }, error: unknown): unknown {
  const failure = named(transaction.failure);
  return isTransient(failure) ? failure : error;
}

/** Turns a failed write on a read-only server into `NotPrimary`, because the cause is the server and not the statement. */
export const named = (failure: unknown): unknown => (isReadOnlyServer(failure) ? new NotPrimary(failure) : failure);
