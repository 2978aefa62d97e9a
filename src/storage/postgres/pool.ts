/** The pool of connections of one `Database`. The driver sends several statements at once on each connection. */
import type { Client, QueryResult } from "pg";
import type { ConnectionLimits } from "../database.ts";
import type { ConnectionCounts } from "../database-health.ts";
import type { Row, Sql, SqlText } from "../sql.ts";
import { NoConnection } from "./failures.ts";
import { type Known, PipelinedQueries, type PipelinedQuery, type Result, type Statement } from "./pipelined-queries.ts";
import { chooseSchema, type Server } from "./server.ts";
import { numbered } from "./values.ts";
import { LockedTables } from "./watches/locked-tables.ts";

/**
 * The longest time that a request waits for a connection. After five seconds without a free connection the request fails, because its caller has a
 * time limit too.
 */
const ACQUIRE_MS_MAX = 5_000;
/**
 * The difference between the driver's time limit and the server's time limit for a statement. Because of this difference the server ends a late
 * statement before the driver does, unless the network loses packets.
 */
const NETWORK_MS_MAX = 1_000;
/**
 * The maximum number of prepared statements on each connection. Each statement takes about 10 kB on the server, and a program has a few hundred
 * statements. Statements beyond the maximum number are not kept prepared.
 */
const STATEMENTS_MAX = 1_000;
/**
 * The interval at which the pool checks for idle connections. A connection that is unused for one to two intervals is closed, because a PostgreSQL
 * server has only about a hundred connections for all worlds.
 */
const IDLE_MS = 60_000;

const statements = new WeakMap<SqlText, Statement>();
let statementCount = 0;

function statementOf(query: SqlText): Statement {
  let statement = statements.get(query);
  if (statement === undefined) {
    const text = numbered(query.text);
    statement = statementCount < STATEMENTS_MAX ? { text, name: `s${++statementCount}` } : { text };
    statements.set(query, statement);
  }
  return statement;
}

export class PoolConnection {
  readonly #client: Client;
  readonly #known: Known = new Map();
  readonly #locked: LockedTables;
  /** The queries that the connection sends at the end of this turn of the event loop. */
  #waiting: PipelinedQuery[] = [];
  /** The schema whose tables the connection currently uses. */
  #schema: string;
  /** Whether the connection served an earlier request. A connection that served an earlier request may have died since that request. */
  wasUsed = false;
  isBroken = false;
  /** Whether the connection has been unused since the last check for idle connections. */
  isSpare = false;

  constructor(client: Client, schema: string, locked: LockedTables, onBroken: () => void) {
    this.#client = client;
    this.#locked = locked;
    this.#schema = schema;
    client.on("error", () => {
      this.isBroken = true;
      onBroken();
    });
  }

  /** The process id that PostgreSQL gave to the session. */
  get session(): number {
    return (this.#client as unknown as { processID: number }).processID;
  }

  get schema(): string {
    return this.#schema;
  }

  /**
   * Switches the connection to the schema. The command that switches the schema is sent together with the next statement, which fails if the switch
   * fails.
   */
  use(schema: string): void {
    if (schema === this.#schema) return;
    this.#schema = schema;
    this.execute(chooseSchema(schema)).catch(() => {
      this.isBroken = true;
    });
  }

  query<R extends Row>(statement: Sql): Promise<Result<R>> {
    const result = this.#add<R>(statement);
    this.#flush();
    return result;
  }

  /** Sends the statement of a transaction together with all other statements of this turn of the event loop. */
  send<R extends Row>(statement: Sql): Promise<Result<R>> {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    return this.#add<R>(statement);
  }

  /** Runs SQL text without values, such as ROLLBACK, even if earlier statements failed. */
  execute(text: string): Promise<QueryResult> {
    this.#flush();
    return this.#client.query(text);
  }

  #add<R extends Row>({ query, values }: Sql): Promise<Result<R>> {
    const refusal = this.#locked.refusalOf(query);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise<Result<R>>((resolve, reject) => {
      this.#waiting.push({ statement: statementOf(query), values, resolve: resolve as PipelinedQuery["resolve"], reject });
    });
  }

  readonly #flush = (): void => {
    if (this.#waiting.length === 0) return;
    const queries = this.#waiting;
    this.#waiting = [];
    this.#client.query(new PipelinedQueries(queries, this.#known));
  };

  async end(): Promise<void> {
    await this.#client.end().catch(() => {});
  }
}

interface Waiter {
  readonly schema: string;
  readonly resolve: (connection: PoolConnection) => void;
  readonly reject: (error: unknown) => void;
  timer: ReturnType<typeof setTimeout>;
  readonly sinceMs: number;
}

export type PoolLimits = ConnectionLimits;

/**
 * The limits of the pool that apply if the operator sets no limits. A process of one core keeps eight connections busy, and ten such processes fit
 * into PostgreSQL's default of 100 connections.
 */
const USUAL_LIMITS: PoolLimits = { connections: 8, statementMs: 30_000, lockMs: 5_000 };

export class Pool {
  readonly #server: Server;
  readonly #limits: PoolLimits;
  readonly #locked: LockedTables;
  readonly #open = new Set<PoolConnection>();
  #waits = 0;
  #waitedMs = 0;
  readonly #idle: PoolConnection[] = [];
  readonly #waiting: Waiter[] = [];
  /** The number of connections that are open or being opened. */
  #count = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: Server, limits: Partial<PoolLimits> = {}) {
    this.#server = server;
    this.#limits = { ...USUAL_LIMITS, ...limits };
    this.#locked = new LockedTables({
      ...{ server, waitingMax: Math.ceil(this.#limits.connections / 2) },
      sessions: () => [...this.#open].map(({ session }) => session),
      isShort: () => this.#waiting.length > 0,
      onChanged: () => {
        while (this.#waiting.length > 0 && this.#count < this.#sizeNow) this.#openForWaiting();
      },
    });
    // A timer closes unused connections, because no other event happens on an unused connection. The timer does not keep the program running.
    this.#timer = setInterval(() => this.#closeSpare(), IDLE_MS);
    this.#timer.unref();
  }

  acquire(schema: string): Promise<PoolConnection> {
    const idle = this.#takeIdle(schema);
    if (idle !== undefined) {
      idle.isSpare = false;
      idle.use(schema);
      return Promise.resolve(idle);
    }
    if (this.#count < this.#sizeNow) return this.#connect(schema);
    this.#waits++;
    this.#locked.suspect();
    return new Promise((resolve, reject) => {
      // The timer ends the wait for a connection, because otherwise every request would hang if the database hangs.
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        this.#waitedMs += ACQUIRE_MS_MAX;
        reject(new NoConnection(this.#limits.connections, ACQUIRE_MS_MAX));
      }, ACQUIRE_MS_MAX);
      // The time at which the wait begins is from the machine's clock, because people compare it with other times of the machine.
      const waiter: Waiter = { schema, resolve, reject, timer, sinceMs: performance.now() };
      this.#waiting.push(waiter);
    });
  }

  /**
   * The maximum number of connections that the pool may have now. While a table is locked, the pool may have twice the limit, so that the additional
   * connections serve statements on other tables.
   */
  get #sizeNow(): number {
    return this.#limits.connections * (this.#locked.areAny ? 2 : 1);
  }

  report(): ConnectionCounts {
    const [connections, idle, waiting] = [this.#open.size, this.#idle.length, this.#waiting.length];
    return { connections, inUse: connections - idle, waiting, waits: this.#waits, waitedMs: this.#waitedMs };
  }

  release(connection: PoolConnection): void {
    if (connection.isBroken || this.#count > this.#sizeNow) {
      this.#count--;
      this.#open.delete(connection);
      void connection.end();
      this.#openForWaiting();
      return;
    }
    connection.wasUsed = true;
    const waiter = this.#nextWaiting();
    if (waiter === undefined) this.#idle.push(connection);
    else {
      connection.use(waiter.schema);
      waiter.resolve(connection);
    }
  }

  /**
   * Takes an idle connection, if possible one that last served this schema, because the prepared plans of such a connection can be used again. If no
   * idle connection last served this schema, the method returns undefined if the pool may open a new connection, and otherwise takes any idle
   * connection.
   */
  #takeIdle(schema: string): PoolConnection | undefined {
    const last = this.#idle.at(-1);
    if (last === undefined || last.schema === schema) return this.#idle.pop();
    const at = this.#idle.findLastIndex((connection) => connection.schema === schema);
    if (at !== -1) return this.#idle.splice(at, 1)[0];
    return this.#count < this.#limits.connections ? undefined : this.#idle.pop();
  }

  /** Closes all connections. Before the caller closes the pool, it ensures that no request is running. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#locked.close();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
  }

  async #connect(schema: string): Promise<PoolConnection> {
    this.#count++;
    try {
      const { statementMs, lockMs } = this.#limits;
      const options = { query_timeout: statementMs + NETWORK_MS_MAX, pipeline: true, limits: { statementMs, lockMs } };
      const client = await this.#server.connect(options, schema);
      const connection: PoolConnection = new PoolConnection(client, schema, this.#locked, () => this.#forget(connection));
      this.#open.add(connection);
      return connection;
    } catch (error) {
      this.#count--;
      // If a connection cannot be opened, the waiting requests also try to open one at once, so that they do not have to wait for their whole time
      // limit before they fail.
      this.#openForWaiting();
      throw error;
    }
  }

  /** Removes an idle connection that broke or that is no longer needed. A broken connection that is in use is removed when it is released. */
  #forget(connection: PoolConnection): void {
    const at = this.#idle.indexOf(connection);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    this.#open.delete(connection);
    this.#count--;
    void connection.end();
  }

  #closeSpare(): void {
    for (const connection of [...this.#idle]) {
      if (connection.isSpare) this.#forget(connection);
      else connection.isSpare = true;
    }
  }

  #nextWaiting(): Waiter | undefined {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) return undefined;
    clearTimeout(waiter.timer);
    // The time at the end of the wait is from the machine's clock, as the time at its beginning is.
    this.#waitedMs += performance.now() - waiter.sinceMs;
    return waiter;
  }

  #openForWaiting(): void {
    const waiter = this.#nextWaiting();
    if (waiter !== undefined) this.#connect(waiter.schema).then(waiter.resolve, waiter.reject);
  }
}
