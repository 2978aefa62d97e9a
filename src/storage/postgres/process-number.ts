/**
 * The process number is ten bits of every new id. A process leases its number as a row of a table, so that two servers never use the same number. The
 * lease protects the number even during a failover, in which a session lock would be lost.
 *
 * **Invariant:** a process uses its number for `USED_MS` after the last renewal, and another process can take the number after `LEASE_MS` at the
 * earliest. The difference between `USED_MS` and `LEASE_MS` allows for a standby that lags behind and for a wrong clock.
 */
import type { Client } from "pg";
import { databaseUnreachable } from "#kernel/errors";
import { NOW_MS } from "./values.ts";

/** The number of possible process numbers, because a process number has ten bits. */
const PROCESSES_MAX = 1_024;
export const LEASE_MS = 60_000;
export const USED_MS = 20_000;
const RENEWAL_MS = 5_000;

/** The data that a process stores about itself, so that a newer process removes no column or table that this process uses (D-346). */
export interface Declared {
  readonly version: string;
  /** The migrations that the program of the process contains, each as `feature/name`. */
  readonly knows: readonly string[];
}

const UNDECLARED: Declared = { version: "unknown", knows: [] };

export class ProcessNumber {
  /** A text that identifies this process as the owner of the process number. The database generates this identifying text when the lease begins. */
  #holder = "";
  #number = -1;
  #renewedMs = Number.NEGATIVE_INFINITY;
  readonly #declared: Declared;
  readonly #nowMs: () => number;

  /** `nowMs` reads a clock that never jumps. */
  // The default of `nowMs` is the machine's clock, because two processes must not share a number, whatever time it is in a world.
  constructor(declared: Declared = UNDECLARED, nowMs: () => number = () => performance.now()) {
    this.#declared = declared;
    this.#nowMs = nowMs;
  }

  /** Returns the process number, which can change after an outage. Throws `databaseUnreachable` if the lease was not renewed in time. */
  get value(): number {
    if (this.#nowMs() - this.#renewedMs > USED_MS) throw databaseUnreachable();
    return this.#number;
  }

  get isDue(): boolean {
    return this.#nowMs() - this.#renewedMs > RENEWAL_MS;
  }

  /** Renews the lease, or takes another number if the lease is lost. Throws an `Error` if other processes hold all numbers. */
  async renew(client: Client): Promise<void> {
    // The lease is counted from the time before the query was sent, because the database may have set the lease at any moment after this time.
    const beforeMs = this.#nowMs();
    this.#number = (await this.#extend(client)) ?? (await this.#take(client));
    this.#renewedMs = beforeMs;
  }

  /** Frees the process number for other processes. After the release, this process must not use its process number. */
  async release(client: Client): Promise<void> {
    this.#renewedMs = Number.NEGATIVE_INFINITY;
    await writing(client, () =>
      client.query(`UPDATE process_numbers SET lease_until_ms = 0 WHERE number = $1 AND holder = $2`, [this.#number, this.#holder]),
    );
  }

  async #extend(client: Client): Promise<number | undefined> {
    if (this.#number < 0) return undefined;
    const { rows } = await writing(client, () =>
      client.query<{ number: number }>(
        `UPDATE process_numbers SET lease_until_ms = ${NOW_MS} + ${LEASE_MS} WHERE number = $1 AND holder = $2 RETURNING number`,
        [this.#number, this.#holder],
      ),
    );
    return rows[0]?.number;
  }

  async #take(client: Client): Promise<number> {
    const { rows } = await writing(client, async () => {
      // The lock ensures that processes that start at the same time take their process numbers one after another.
      await client.query("LOCK TABLE process_numbers IN SHARE ROW EXCLUSIVE MODE");
      return client.query<{ number: number; holder: string }>(
        `INSERT INTO process_numbers (number, holder, lease_until_ms, version, knows)
         SELECT n, CAST(gen_random_uuid() AS TEXT), ${NOW_MS} + ${LEASE_MS}, $1, $2 FROM generate_series(0, ${PROCESSES_MAX - 1}) AS n
         WHERE NOT EXISTS (SELECT 1 FROM process_numbers p WHERE p.number = n AND p.lease_until_ms >= ${NOW_MS})
         ORDER BY n LIMIT 1
         ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms,
           version = excluded.version, knows = excluded.knows
         RETURNING number, holder`,
        [this.#declared.version, JSON.stringify(this.#declared.knows)],
      );
    });
    const [taken] = rows;
    if (taken === undefined) throw new Error(`${PROCESSES_MAX} processes already use this world`);
    this.#holder = taken.holder;
    return taken.number;
  }
}

async function writing<T>(client: Client, body: () => Promise<T>): Promise<T> {
  await client.query("BEGIN READ WRITE");
  try {
    const result = await body();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}
