/** The steps that end a transaction: the notification about changed facts before COMMIT, and the rollback. */
import { type Sql, sql } from "../sql.ts";
import { isReadOnlyServer, isTransient, NotPrimary } from "./failures.ts";
import type { PoolConnection } from "./pool.ts";

/**
 * The maximum number of bytes for the changed facts in a notification; PostgreSQL allows 8,000 bytes for the whole notification. If the facts do not
 * fit, the notification says that everything changed.
 */
const FACTS_BYTES_MAX = 7_500;

export async function rollback(connection: PoolConnection): Promise<void> {
  try {
    await connection.execute("ROLLBACK");
  } catch {
    // After a failed rollback, the connection is marked as broken and is closed. PostgreSQL rolls back the open transaction of a closed connection.
    connection.isBroken = true;
  }
}

/**
 * Returns the statement that announces changed facts; it is sent right before COMMIT. A generation is a counter of the transactions that changed
 * facts; there is one for each slot, which is a row that some connections share. The generations have the order of the commits, because the row of
 * the generation is locked until the commit. A process that missed a notification sees a gap in the generations (`fact-channel.ts`). Connections
 * rarely share a slot, so they rarely wait for each other's commits.
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

/**
 * Returns the error of a failed transaction. If another attempt may succeed, the function returns PostgreSQL's own error, even if the body threw
 * another error.
 */
export function failureOf(transaction: { readonly failure: unknown }, error: unknown): unknown {
  const failure = named(transaction.failure);
  return isTransient(failure) ? failure : error;
}

/** Turns a failed write on a read-only server into `NotPrimary`, because the cause is the server and not the statement. */
export const named = (failure: unknown): unknown => (isReadOnlyServer(failure) ? new NotPrimary(failure) : failure);
