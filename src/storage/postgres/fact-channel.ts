/**
 * The dedicated connection of a `Database`: it receives the facts that other processes changed, and holds the process number.
 *
 * **Invariant:** the listener receives the change of any process within 1 s, or everything is declared changed.
 *
 * Each transaction that changes facts increments `fact_generation` and notifies with that number. A gap in the numbers, or a
 * number in the table that did not arrive, means that a notification was lost.
 */
import { Client, type ClientConfig } from "pg";
import { lockClass } from "./lock-key.ts";

/** Interval of reading the generation: a lost notification is found within this time and that of one query. */
const POLL_MS = 500;
/** Polls without a response after which the connection counts as broken: 5 s, as for any other connection. */
const SILENT_POLLS_MAX = 10;
/** Ten bits of a minted id. */
const PROCESSES_MAX = 1_024;

export type OnFact = (kind: string | undefined, key: string | undefined) => void;

export class FactChannel {
  readonly #config: ClientConfig;
  readonly #schema: string;
  readonly #onFact: OnFact;
  readonly #timer: ReturnType<typeof setInterval>;
  #client: Client | undefined;
  /** The last generation received. */
  #generation = 0;
  #processNumber = -1;
  #silentPolls = 0;
  #isConnecting = false;
  #isClosed = false;

  private constructor(config: ClientConfig, schema: string, onFact: OnFact) {
    this.#config = config;
    this.#schema = schema;
    this.#onFact = onFact;
    // A timer, because only a query finds a lost notification. It does not keep the program running.
    this.#timer = setInterval(() => this.#tick(), POLL_MS);
    this.#timer.unref();
  }

  static async open(config: ClientConfig, schema: string, onFact: OnFact): Promise<FactChannel> {
    const channel = new FactChannel(config, schema, onFact);
    try {
      await channel.#connect();
      return channel;
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  /** Can change if the connection was lost and another process took the number. */
  get processNumber(): number {
    return this.#processNumber;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config);
    let isLost = false;
    const lose = () => {
      if (isLost) return;
      isLost = true;
      void client.end().catch(() => {});
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#everythingChanged();
    };
    client.on("error", lose);
    client.on("end", lose);
    client.on("notification", ({ payload }) => this.#heard(payload ?? ""));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#schema}"`);
      const number = await this.#claimNumber(client);
      // From here on notifications arrive, so no change after this generation is missed.
      const generation = await readGeneration(client);
      if (isLost || this.#isClosed) throw new Error("Connection terminated");
      this.#processNumber = number;
      this.#generation = generation;
      this.#silentPolls = 0;
      this.#client = client;
      this.#everythingChanged();
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  /** The previous number, if no other process has taken it; otherwise the first free number. */
  async #claimNumber(client: Client): Promise<number> {
    const { rows } = await client.query<{ number: number }>(
      `SELECT number FROM (SELECT $2::int AS number WHERE $2::int >= 0 UNION ALL SELECT * FROM generate_series(0, $3::int - 1)) AS wanted
       WHERE pg_try_advisory_lock($1::int, number) LIMIT 1`,
      [lockClass(this.#schema, "process"), this.#processNumber, PROCESSES_MAX],
    );
    const number = rows[0]?.number;
    if (number === undefined) throw new Error(`${PROCESSES_MAX} processes already use the schema ${this.#schema}`);
    return number;
  }

  /** `<generation> <facts as JSON, or null for everything>` */
  #heard(payload: string): void {
    const space = payload.indexOf(" ");
    const generation = Number(payload.slice(0, space));
    const facts = JSON.parse(payload.slice(space + 1)) as [string, string][] | null;
    const isNext = generation <= this.#generation + 1;
    this.#generation = Math.max(this.#generation, generation);
    if (!isNext || facts === null) this.#everythingChanged();
    else for (const [kind, key] of facts) this.#onFact(kind, key);
  }

  #tick(): void {
    const client = this.#client;
    if (client === undefined) {
      this.#everythingChanged();
      this.#reconnect();
      return;
    }
    if (this.#silentPolls > 0) {
      this.#everythingChanged();
      // Closes the connection; the next tick reconnects.
      if (++this.#silentPolls > SILENT_POLLS_MAX) void client.end().catch(() => {});
      return;
    }
    this.#silentPolls = 1;
    readGeneration(client).then(
      (generation) => {
        this.#silentPolls = 0;
        if (generation <= this.#generation) return;
        this.#generation = generation;
        this.#everythingChanged();
      },
      // The error event of the connection has reported the cause.
      () => {},
    );
  }

  #reconnect(): void {
    if (this.#isConnecting || this.#isClosed) return;
    this.#isConnecting = true;
    this.#connect()
      // The next tick tries again; until then requests get their own errors from the pool.
      .catch(() => {})
      .finally(() => {
        this.#isConnecting = false;
      });
  }

  #everythingChanged(): void {
    if (!this.#isClosed) this.#onFact(undefined, undefined);
  }
}

async function readGeneration(client: Client): Promise<number> {
  const { rows } = await client.query<{ generation: number }>("SELECT generation FROM fact_generation");
  return rows[0]?.generation ?? 0;
}
