/**
 * Notices tables that another session locks for long. Statements on a locked table would take every connection. So when half of the connections wait
 * for one table in two looks, further statements on the table are refused at once, and the free connections serve the other tables. One look is not
 * enough, because a migration also locks a table, but only for a moment.
 */
import type { Client } from "pg";
import type { SqlText } from "../../sql.ts";
import { TableLocked } from "../failures.ts";
import type { Server } from "../server.ts";

/**
 * The time before each look at the locks. A statement takes milliseconds, so a statement that waits longer waits for a lock, or for a very busy
 * server.
 */
const LOOK_EVERY_MS = 500;
const RESPONSE_MS_MAX = 5_000;

const WAITING = `
  SELECT CAST(c.relname AS TEXT) AS name, CAST(COUNT(*) AS INTEGER) AS waiting FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
  WHERE NOT l.granted AND l.locktype = 'relation' AND l.pid = ANY($1) GROUP BY c.relname`;

interface Watched {
  readonly server: Server;
  /** The number of statements that may wait for one table. */
  readonly waitingMax: number;
  /** The sessions of the pool, by the numbers that the server gave them. */
  sessions(): readonly number[];
  /** Whether a request waits for a connection. */
  isShort(): boolean;
  onChanged(): void;
}

export class LockedTables {
  readonly #watched: Watched;
  #refused: ReadonlySet<string> = new Set();
  /** The tables for which half of the connections waited in the last look. */
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

  /** Called when no connection was free. The next look at the locks is after `LOOK_EVERY_MS`. */
  suspect(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    // A timer, because nothing else happens while all connections wait.
    this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** The error for a statement on a locked table; undefined if the statement may be sent. */
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
      // A refused table stays refused until no statement waits for it any more.
      const waited = new Set(rows.filter(({ waiting }) => waiting >= waitingMax).map(({ name }) => name));
      this.#refused = new Set(rows.map(({ name }) => name).filter((name) => before.has(name) || (waited.has(name) && this.#suspected.has(name))));
      this.#suspected = waited;
    } catch {
      // If the look fails, no table is refused: the statements fail by their own time limits.
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
/** The number of kept statement texts: a program has a few hundred statements. */
const TEXTS_MAX = 1_000;

function wordsOf(text: string): ReadonlySet<string> {
  let found = words.get(text);
  if (found === undefined) {
    found = new Set(text.match(/\w+/g));
    if (words.size < TEXTS_MAX) words.set(text, found);
  }
  return found;
}
