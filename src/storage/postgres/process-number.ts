/**
 * The process number, ten bits of every minted id, as a leased row: also two servers on the two sides of a failover, where no lock of a
 * session survives, never mint with one number.
 *
 * **Invariant:** a number is minted with for `USED_MS` after its last renewal and taken by another process after `LEASE_MS` at the
 * earliest. The difference is what a standby may lag behind, or a clock may be wrong.
 */
import type { Client } from "pg";
import { databaseUnreachable } from "#kernel/errors";

/** Ten bits. */
const PROCESSES_MAX = 1_024;
export const LEASE_MS = 60_000;
export const USED_MS = 20_000;
const RENEWAL_MS = 5_000;

const NOW_MS = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

export class ProcessNumber {
  /** The database makes it with the lease. */
  #holder = "";
  #number = -1;
  #renewedMs = Number.NEGATIVE_INFINITY;
  readonly #nowMs: () => number;

  /** `nowMs`: of a clock that never jumps. */
  // The machine's clock: two processes are kept apart, whatever time it is in a world.
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Throws `databaseUnreachable` where the lease could not be renewed in time. It can change after an outage. */
  get value(): number {
    if (this.#nowMs() - this.#renewedMs > USED_MS) throw databaseUnreachable();
    return this.#number;
  }

  get isDue(): boolean {
    return this.#nowMs() - this.#renewedMs > RENEWAL_MS;
  }

  /** Renews the lease, or takes another number where it is lost. Throws an `Error` where all numbers are taken. */
  async renew(client: Client): Promise<void> {
    // The lease counts from before it was asked for.
    const beforeMs = this.#nowMs();
    this.#number = (await this.#extend(client)) ?? (await this.#take(client));
    this.#renewedMs = beforeMs;
  }

  /** For the next process; the number is not to be used afterwards. */
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
      // Processes that start at once take turns.
      await client.query("LOCK TABLE process_numbers IN SHARE ROW EXCLUSIVE MODE");
      return client.query<{ number: number; holder: string }>(
        `INSERT INTO process_numbers (number, holder, lease_until_ms)
         SELECT n, CAST(gen_random_uuid() AS TEXT), ${NOW_MS} + ${LEASE_MS} FROM generate_series(0, ${PROCESSES_MAX - 1}) AS n
         WHERE NOT EXISTS (SELECT 1 FROM process_numbers p WHERE p.number = n AND p.lease_until_ms >= ${NOW_MS})
         ORDER BY n LIMIT 1
         ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, lease_until_ms = excluded.lease_until_ms
         RETURNING number, holder`,
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
