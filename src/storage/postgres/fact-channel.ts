/**
 * The channel for facts, which is a dedicated connection of a server process to PostgreSQL. Through the channel for facts the process receives the
 * facts that other processes changed in each followed schema. On the connection of the channel for facts, the process also renews its process number,
 * which is stored in the server's own schema.
 *
 * **Invariant:** the listener of a schema receives a change that any process made within 1 s; otherwise the channel reports that everything changed.
 * Timers alone cannot guarantee that a change is received within 1 s: if a process got no processor time for a second, a request may run before the
 * timer. All code that uses a cached fact therefore calls `confirm` first.
 *
 * Each transaction that changes facts increments its connection's row (slot) of `fact_generations`, and sends a notification with the slot and the
 * slot's new number. If the numbers of a slot have a gap, or the table has a number that no notification had, a notification was lost.
 */
import type { Client } from "pg";
import { DatabaseHealth } from "../database-health.ts";
import { isUndefinedTable, problemKindOf } from "./failures.ts";
import { type Declared, ProcessNumber } from "./process-number.ts";
import type { Server } from "./server.ts";

/** The time limit for a response on the dedicated connection. */
const RESPONSE_MS_MAX = 5_000;

/**
 * The interval at which the process reads the generations of the slots. The process detects a lost notification after this time plus the duration of
 * one query.
 */
const POLL_MS = 500;
/** The time within which this process learns of a change that another process made (ARCHITECTURE.md, idea 5). */
const KNOWN_WITHIN_MS = 1_000;
/**
 * The number of polls without a response after which the connection counts as broken. Ten polls of the generations take 5 s, which is also the time
 * of `RESPONSE_MS_MAX`.
 */
const SILENT_POLLS_MAX = 10;

// The current time is from the machine's clock, because other processes do not follow the clock of a world.
const now = (): number => performance.now();

export type OnFact = (kind: string | undefined, key: string | undefined) => void;

interface Followed {
  readonly onFact: OnFact;
  /** The last generation that was received for each slot (row of `fact_generations`). */
  generations: Map<number, number>;
}

export class FactChannel {
  readonly #server: Server;
  readonly #health: DatabaseHealth;
  /** The followed schemas, keyed by their names. */
  readonly #followed = new Map<string, Followed>();
  readonly #timer: ReturnType<typeof setInterval>;
  #client: Client | undefined;
  readonly #processNumber: ProcessNumber;
  #silentPolls = 0;
  /** This process has received all changes that were made before this time, or has reported after this time that everything changed. */
  #confirmedMs = now();
  #lastTurn: Promise<unknown> = Promise.resolve();
  #isConnecting = false;
  #isClosed = false;

  private constructor(server: Server, onFact: OnFact, health: DatabaseHealth, declared: Declared | undefined) {
    this.#processNumber = new ProcessNumber(declared);
    this.#server = server;
    this.#health = health;
    this.#followed.set(server.schema, { onFact, generations: new Map() });
    // A timer is needed, because only a query detects a lost notification. The timer does not keep the program running.
    this.#timer = setInterval(() => this.#tick(), POLL_MS);
    this.#timer.unref();
  }

  static async open(server: Server, onFact: OnFact, health = new DatabaseHealth(), declared?: Declared): Promise<FactChannel> {
    const channel = new FactChannel(server, onFact, health, declared);
    try {
      await channel.#connect();
      return channel;
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  /** Begins to follow a schema. Resolves when the channel receives the changes of the schema. */
  async follow(schema: string, onFact: OnFact): Promise<void> {
    const followed: Followed = { onFact, generations: new Map() };
    this.#followed.set(schema, followed);
    await this.#inTurn(async () => {
      const client = this.#client;
      // Without a connection the channel sends no LISTEN, because the next connection listens to all followed schemas as soon as it is open.
      if (client === undefined) return;
      await client.query(`LISTEN "${schema}"`);
      const generations = (await readGenerations(client, [schema])).get(schema);
      if (generations !== undefined) followed.generations = generations;
    });
  }

  leave(schema: string): void {
    this.#followed.delete(schema);
    // UNLISTEN fails only if the connection is lost, and a lost connection receives no notifications anyway.
    this.#inTurn(async () => this.#client?.query(`UNLISTEN "${schema}"`)).catch(() => {});
  }

  /**
   * Runs `work` after all earlier work on the channel's connection has ended. The work runs one after another because the renewal of the process
   * number is a transaction, and no other query may run inside this transaction.
   */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  /**
   * The number of this process, which can change after an outage of PostgreSQL. Throws `databaseUnreachable` if the lease of the process number could
   * not be renewed.
   */
  get processNumber(): number {
    return this.#processNumber.value;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Reports that everything changed if the last successful poll began more than a second ago. */
  confirm(): void {
    if (now() - this.#confirmedMs > KNOWN_WITHIN_MS) this.#everythingChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    await this.#lastTurn;
    // If the release of the process number fails, the number becomes free after its lease has expired.
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
    client.on("notification", ({ channel, payload }) => this.#heard(channel, payload ?? ""));
    try {
      const schemas = [...this.#followed.keys()];
      await client.query(schemas.map((schema) => `LISTEN "${schema}"`).join("; "));
      await this.#processNumber.renew(client);
      // The channel listens before it reads the generations, so it misses no change that is made after they were read.
      const generations = await readGenerations(client, schemas);
      if (isLost || this.#isClosed) throw new Error("Connection terminated");
      for (const [schema, known] of generations) {
        const followed = this.#followed.get(schema);
        if (followed !== undefined) followed.generations = known;
      }
      this.#silentPolls = 0;
      this.#client = client;
      this.#everythingChanged();
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  /** Handles a notification. The payload is `<slot> <generation> <facts>`, and the facts are JSON, or null if everything changed. */
  #heard(schema: string, payload: string): void {
    const followed = this.#followed.get(schema);
    if (followed === undefined) return;
    const { generations, onFact } = followed;
    const [slotText = "", generationText = ""] = payload.split(" ", 2);
    const [slot, generation] = [Number(slotText), Number(generationText)];
    const facts = JSON.parse(payload.slice(slotText.length + generationText.length + 2)) as [string, string][] | null;
    const known = generations.get(slot) ?? 0;
    generations.set(slot, Math.max(known, generation));
    if (this.#isClosed) return;
    if (generation > known + 1 || facts === null) onFact(undefined, undefined);
    else for (const [kind, key] of facts) onFact(kind, key);
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
      // The channel closes its broken connection here, and its next tick connects again.
      if (++this.#silentPolls > SILENT_POLLS_MAX) void client.end().catch(() => {});
      return;
    }
    this.#silentPolls = 1;
    this.#inTurn(() => this.#poll(client)).then(
      () => {
        this.#silentPolls = 0;
        this.#health.worked(false);
      },
      // The handler of the connection's error event reports why the connection ended.
      () => {},
    );
  }

  async #poll(client: Client): Promise<void> {
    const begunMs = now();
    if (this.#processNumber.isDue) await this.#processNumber.renew(client);
    for (const [schema, newest] of await readGenerations(client, [...this.#followed.keys()])) {
      const followed = this.#followed.get(schema);
      if (followed === undefined) continue;
      let isBehind = false;
      for (const [slot, generation] of newest) {
        if (generation <= (followed.generations.get(slot) ?? 0)) continue;
        followed.generations.set(slot, generation);
        isBehind = true;
      }
      if (isBehind && !this.#isClosed) followed.onFact(undefined, undefined);
    }
    this.#confirmedMs = Math.max(this.#confirmedMs, begunMs);
  }

  #reconnect(): void {
    if (this.#isConnecting || this.#isClosed) return;
    this.#isConnecting = true;
    this.#connect()
      // The channel's next tick tries again to connect; until then, requests get their own errors from the connection pool.
      .catch((error: unknown) => this.#health.failed(problemKindOf(error) ?? "unreachable", error))
      .finally(() => {
        this.#isConnecting = false;
      });
  }

  #everythingChanged(): void {
    if (this.#isClosed) return;
    this.#confirmedMs = now();
    for (const { onFact } of this.#followed.values()) onFact(undefined, undefined);
  }
}

/**
 * Reads the generation of each slot in each schema. The result leaves out a schema that does not exist, because another process may delete a schema
 * at any time.
 */
async function readGenerations(client: Client, schemas: readonly string[]): Promise<Map<string, Map<number, number>>> {
  const found = new Map<string, Map<number, number>>();
  for (const schema of schemas) found.set(schema, new Map());
  const read = async (names: readonly string[]): Promise<void> => {
    const one = (schema: string) => `SELECT '${schema}' AS schema, slot, generation FROM "${schema}".fact_generations`;
    const { rows } = await client.query<{ schema: string; slot: number; generation: number }>(names.map(one).join(" UNION ALL "));
    for (const { schema, slot, generation } of rows) found.get(schema)?.set(slot, generation);
  };
  try {
    await read(schemas);
  } catch (error) {
    if (!isUndefinedTable(error) || schemas.length < 2) throw error;
    for (const schema of schemas) {
      await read([schema]).catch((failure: unknown) => {
        if (!isUndefinedTable(failure)) throw failure;
        found.delete(schema);
      });
    }
  }
  return found;
}
