/**
 * The dedicated connection of a `Database`: it receives the facts that other processes changed, and renews the process number.
 *
 * **Invariant:** the listener receives the change of any process within 1 s, or everything is declared changed.
 *
 * Each transaction that changes facts increments a row of `fact_generations`, its connection's, and notifies with that slot and
 * number. A gap in the numbers of a slot, or a number in the table that did not arrive, means that a notification was lost.
 */
import type { Client } from "pg";
import { ProcessNumber } from "./process-number.ts";
import type { Server } from "./server.ts";

/** Time limit for a response on this connection. */
const RESPONSE_MS_MAX = 5_000;

/** Interval of reading the generation: a lost notification is found within this time and that of one query. */
const POLL_MS = 500;
/** Polls without a response after which the connection counts as broken: 5 s, as for any other connection. */
const SILENT_POLLS_MAX = 10;

export type OnFact = (kind: string | undefined, key: string | undefined) => void;

export class FactChannel {
  readonly #server: Server;
  readonly #onFact: OnFact;
  readonly #timer: ReturnType<typeof setInterval>;
  #client: Client | undefined;
  /** The last generation received, by slot. */
  #generations = new Map<number, number>();
  readonly #processNumber = new ProcessNumber();
  #silentPolls = 0;
  #polling: Promise<void> = Promise.resolve();
  #isConnecting = false;
  #isClosed = false;

  private constructor(server: Server, onFact: OnFact) {
    this.#server = server;
    this.#onFact = onFact;
    // A timer, because only a query finds a lost notification. It does not keep the program running.
    this.#timer = setInterval(() => this.#tick(), POLL_MS);
    this.#timer.unref();
  }

  static async open(server: Server, onFact: OnFact): Promise<FactChannel> {
    const channel = new FactChannel(server, onFact);
    try {
      await channel.#connect();
      return channel;
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  /** Can change after an outage. Throws `databaseUnreachable` where the lease could not be renewed. */
  get processNumber(): number {
    return this.#processNumber.value;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    await this.#polling;
    // Without it the number is free when its lease is over.
    await this.#processNumber.release(client).catch(() => {});
    await client.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = await this.#server.connect({ query_timeout: RESPONSE_MS_MAX });
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
      await client.query(`LISTEN "${this.#server.schema}"`);
      await this.#processNumber.renew(client);
      // From here on notifications arrive, so no change after these generations is missed.
      const generations = await readGenerations(client);
      if (isLost || this.#isClosed) throw new Error("Connection terminated");
      this.#generations = generations;
      this.#silentPolls = 0;
      this.#client = client;
      this.#everythingChanged();
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  /** `<slot> <generation> <facts as JSON, or null for everything>` */
  #heard(payload: string): void {
    const [slotText = "", generationText = ""] = payload.split(" ", 2);
    const [slot, generation] = [Number(slotText), Number(generationText)];
    const facts = JSON.parse(payload.slice(slotText.length + generationText.length + 2)) as [string, string][] | null;
    const known = this.#generations.get(slot) ?? 0;
    this.#generations.set(slot, Math.max(known, generation));
    if (generation > known + 1 || facts === null) this.#everythingChanged();
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
    this.#polling = this.#poll(client).then(
      () => {
        this.#silentPolls = 0;
      },
      // The error event of the connection has reported the cause.
      () => {},
    );
  }

  async #poll(client: Client): Promise<void> {
    if (this.#processNumber.isDue) await this.#processNumber.renew(client);
    let isBehind = false;
    for (const [slot, generation] of await readGenerations(client)) {
      if (generation <= (this.#generations.get(slot) ?? 0)) continue;
      this.#generations.set(slot, generation);
      isBehind = true;
    }
    if (isBehind) this.#everythingChanged();
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

async function readGenerations(client: Client): Promise<Map<number, number>> {
  const { rows } = await client.query<{ slot: number; generation: number }>("SELECT slot, generation FROM fact_generations");
  return new Map(rows.map(({ slot, generation }) => [slot, generation]));
}
