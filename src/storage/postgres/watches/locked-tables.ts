/**
 * Detects tables that another session locks for a long time. Statements that wait for a locked table would otherwise occupy every connection. If half
 * of the connections wait for the same table in two checks, further statements on this table are refused at once, so that the free connections serve
 * the other tables. One check of the locks is not enough, because a migration also locks a table for a moment.
 */
import type { Client } from "pg";
import type { SqlText } from "../../sql.ts";
import { TableLocked } from "../failures.ts";
import type { Server } from "../server.ts";

/**
 * The time before each check of the locks. A statement takes milliseconds, so a statement that takes longer is waiting for a lock, or for a very busy
 * server.
 */
const LOOK_EVERY_MS = 500;
const RESPONSE_MS_MAX = 5_000;

const WAITING = `
  SELECT CAST(c.relname AS TEXT) AS name, CAST(COUNT(*) AS INTEGER) AS waiting FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
  WHERE NOT l.granted AND l.locktype = 'relation' AND l.pid = ANY($1) GROUP BY c.relname`;

interface Watched {
  readonly server: Server;
  /** The number of statements that may wait for the same table. */
  readonly waitingMax: number;
  /** Returns the process ids that PostgreSQL gave to the sessions of the pool. */
  sessions(): readonly number[];
  /** Whether a request is waiting for a connection. */
  isShort(): boolean;
  onChanged(): void;
}

export class LockedTables {
  readonly #watched: Watched;
  #refused: ReadonlySet<string> = new Set();
  /** The tables for which half of the connections waited in the last check. */
  #suspected: ReadonlySet<string> = new Set();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #client: Client | undefined;
  #isClosed = false;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  get areAny(): boolean {
    return this.#refused.size > 0;
  }

  /** The pool calls this method when no connection was free. The next check of the locks begins after `LOOK_EVERY_MS`. */
  suspect(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    // A timer begins the check, because no other event happens while all connections wait.
    this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Returns the error for a statement on a locked table, or undefined if the statement may be sent. */
  refusalOf({ text }: SqlText): TableLocked | undefined {
    if (this.#refused.size === 0) return undefined;
    const locked = [...wordsOf(text)].find((word) => this.#refused.has(word));
    return locked === undefined ? undefined : new TableLocked(locked);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #look(): Promise<void> {
    const { server, waitingMax, sessions, isShort, onChanged } = this.#watched;
    const before = this.#refused;
    try {
      this.#client ??= await server.connect({ query_timeout: RESPONSE_MS_MAX });
      const { rows } = await this.#client.query<{ name: string; waiting: number }>(WAITING, [sessions()]);
      // Statements on a refused table are refused until no statement is waiting for this table any more.
      const waited = new Set(rows.filter(({ waiting }) => waiting >= waitingMax).map(({ name }) => name));
      this.#refused = new Set(rows.map(({ name }) => name).filter((name) => before.has(name) || (waited.has(name) && this.#suspected.has(name))));
      this.#suspected = waited;
    } catch {
      // If the check of the locks fails, no statements on a table are refused, and the waiting statements fail at their own time limits.
      this.#refused = new Set();
      this.#suspected = new Set();
      await this.#forget();
    }
    this.#timer = undefined;
    onChanged();
    if (this.areAny || this.#suspected.size > 0 || isShort()) this.suspect();
    else await this.#forget();
  }

  async #forget(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}

const words = new Map<string, ReadonlySet<string>>();
/** The maximum number of cached statement texts. The maximum is large enough, because a program has a few hundred statements. */
const TEXTS_MAX = 1_000;

function wordsOf(text: string): ReadonlySet<string> {
  let found = words.get(text);
  if (found === undefined) {
    found = new Set(text.match(/\w+/g));
    if (words.size < TEXTS_MAX) words.set(text, found);
  }
  return found;
}
