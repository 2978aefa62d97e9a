/** How a transaction ends. */
import { isReadOnlyServer, isTransient, NotPrimary } from "./failures.ts";
import type { PoolConnection } from "./pool.ts";
import type { PostgresTransaction } from "./transaction.ts";

export async function rollback(connection: PoolConnection): Promise<void> {
  try {
    await connection.execute("ROLLBACK");
  } catch {
    // The server rolls back the open transaction of a closed connection.
    connection.isBroken = true;
  }
}

/**
 * Returns whether it is committed. A failed statement that nobody waited for, or whose error the body swallowed, appears here: PostgreSQL
 * responds to COMMIT with ROLLBACK.
 */
export async function commit(connection: PoolConnection, transaction: PostgresTransaction): Promise<boolean> {
  const announced = transaction.facts.length > 0 ? transaction.announceFacts() : Promise.resolve();
  // Both are sent together.
  announced.catch((error) => {
    transaction.failure ??= error;
  });
  const { command } = await connection.execute("COMMIT");
  return command === "COMMIT";
}

/** Where another attempt may help PostgreSQL's error counts, not the error that the body made of it. */
export function failureOf({ failure }: PostgresTransaction, error: unknown): unknown {
  if (isReadOnlyServer(failure)) return new NotPrimary(failure);
  return isTransient(failure) ? failure : error;
}
