/**
 * The problems of a server's database, as its drivers report them. The log, the alerts, `/readyz` and the metrics all read this list of problems, so
 * they all name the same problems (D-341).
 */

export type ProblemKind =
  | "unreachable"
  | "no_connection"
  | "too_slow"
  | "disk_full"
  | "disk_error"
  | "no_memory"
  | "locked"
  | "file_changed"
  | "file_damaged"
  | "stale_primary";

/** For each kind of problem, a text for people that names the problem and what a person can do about it. */
const SENTENCES: Readonly<Record<ProblemKind, string>> = {
  unreachable: "The database cannot be reached, or none of its servers accepts writes. Check that the database runs; Plaza reconnects by itself.",
  no_connection:
    "No connection to the database is free. Other programs use all connections that the server allows, or statements of Plaza take too long; see max_connections and pg_stat_activity.",
  too_slow:
    "The database did not finish statements in time. Late statements usually wait for a lock of another session; see pg_locks and pg_stat_activity.",
  disk_full: "The disk of the database is full, and writes are refused. Free some space; Plaza then continues by itself.",
  disk_error: "The disk of the database returns errors. Check the disk and the system's log before you write further data to it.",
  no_memory: "The database has too little memory. Add memory to its machine, or run fewer processes on that machine.",
  locked: "Another program locks the database file. End that program.",
  file_changed:
    "Somebody deleted, replaced or changed the files of the database while the server used them. Plaza no longer reads or writes the database. Stop the server, restore the files from a backup, and start the server again.",
  file_damaged: "The database is damaged. Stop the server, and restore the data from a backup.",
  stale_primary:
    "A PostgreSQL server that accepts writes has older data than the server that Plaza used before, or belongs to another cluster. Plaza does not use that server; stop that server.",
};

export const problemKinds = Object.keys(SENTENCES) as readonly ProblemKind[];

export interface DatabaseProblem {
  readonly kind: ProblemKind;
  /** The name of the database in `--databases`; undefined if the server has one database. */
  readonly database?: string;
  /** The problem and its remedy, in sentences for people. */
  readonly text: string;
  /** The text of the last error, from the database or the system. */
  readonly cause: string;
  /** The time at which the problem began, in Unix ms of real time. */
  readonly since_ms: number;
  readonly last_ms: number;
  /** The number of operations that have failed because of this problem since it began. */
  readonly count: number;
}

export interface DatabaseReport {
  readonly problems: readonly DatabaseProblem[];
  /** The number of failed operations of each kind since the start of the process. */
  readonly failures: Readonly<Partial<Record<ProblemKind, number>>>;
  /** The connections to PostgreSQL; undefined on SQLite. */
  readonly pool: ConnectionCounts | undefined;
  /** The report of each database, by the database's name, if the server has several databases (`--databases`). */
  readonly byDatabase?: Readonly<Record<string, DatabaseReport>>;
}

/** Counts of the connections of one process, or of several processes together. */
export interface ConnectionCounts {
  readonly connections: number;
  readonly inUse: number;
  /** The number of calls that are waiting for a connection to PostgreSQL. */
  readonly waiting: number;
  /**
   * The number of calls since the start of the process that had to wait for a connection to PostgreSQL; `waitedMs` is the sum of their waiting times.
   */
  readonly waits: number;
  readonly waitedMs: number;
}

export const NO_REPORT: DatabaseReport = { problems: [], failures: {}, pool: undefined };

interface HealthOptions {
  /** The current real time in Unix ms. */
  nowMs?(): number;
  /** This function is called when a problem begins, and once a minute while the problem lasts. */
  onSeen?(problem: DatabaseProblem): void;
  onEnded?(problem: DatabaseProblem): void;
}

/**
 * A problem counts as ended after this time without a failure. This time without a failure is not zero, because on an almost full disk, or if few
 * connections are free, some operations succeed while others fail.
 */
const QUIET_MS = 5_000;
const SEEN_EVERY_MS = 60_000;
/** The problems that last until the process ends. */
const LASTING: readonly ProblemKind[] = ["file_changed", "file_damaged"];
/** The problems that affect only writes, so a successful read does not prove that the problem has ended. */
const OF_WRITES: readonly ProblemKind[] = ["disk_full", "disk_error", "locked"];
const CAUSE_CHARACTERS_MAX = 500;

type Current = { -readonly [Key in keyof DatabaseProblem]: DatabaseProblem[Key] } & { seenMs: number };

export class DatabaseHealth {
  readonly #options: HealthOptions;
  readonly #current = new Map<ProblemKind, Current>();
  readonly #pools: (() => ConnectionCounts)[] = [];
  readonly #failures: Partial<Record<ProblemKind, number>> = {};
  readonly #database: { readonly database?: string };
  readonly #named = new Map<string, DatabaseHealth>();

  /** `database` is the database's name in the option `--databases`. */
  constructor(options: HealthOptions = {}, database?: string) {
    this.#options = options;
    this.#database = database === undefined ? {} : { database };
  }

  /** Returns the health of one of several databases. The report about the whole server also contains the problems of this database. */
  of(database: string): DatabaseHealth {
    const health = this.#named.get(database) ?? new DatabaseHealth(this.#options, database);
    this.#named.set(database, health);
    return health;
  }

  addPool(counts: () => ConnectionCounts): void {
    this.#pools.push(counts);
  }

  /** Reports that an operation failed. */
  failed(kind: ProblemKind, error: unknown): void {
    const nowMs = this.#nowMs();
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
    const cause = (error instanceof Error ? error.message : String(error)).slice(0, CAUSE_CHARACTERS_MAX);
    const known = this.#current.get(kind);
    const begun = { since_ms: nowMs, last_ms: nowMs, count: 0, seenMs: Number.NEGATIVE_INFINITY };
    const problem = known ?? { ...this.#database, kind, text: SENTENCES[kind], cause, ...begun };
    Object.assign(problem, { cause, last_ms: nowMs, count: problem.count + 1 });
    this.#current.set(kind, problem);
    if (nowMs - problem.seenMs < SEEN_EVERY_MS) return;
    problem.seenMs = nowMs;
    this.#options.onSeen?.(shown(problem));
  }

  /** Reports that an operation succeeded. The drivers call this method after each operation, so the method is cheap while there are no problems. */
  worked(isWrite: boolean): void {
    if (this.#current.size === 0) return;
    const quietSinceMs = this.#nowMs() - QUIET_MS;
    for (const problem of this.#current.values()) {
      const { kind, last_ms } = problem;
      if (last_ms > quietSinceMs || LASTING.includes(kind) || (OF_WRITES.includes(kind) && !isWrite)) continue;
      this.#current.delete(kind);
      this.#options.onEnded?.(shown(problem));
    }
  }

  report(): DatabaseReport {
    const own = {
      ...{ problems: [...this.#current.values()].map(shown), failures: { ...this.#failures } },
      pool: summed(this.#pools.map((counts) => counts())),
    };
    if (this.#named.size === 0) return own;
    const byDatabase = Object.fromEntries([...this.#named].map(([name, health]) => [name, health.report()]));
    return { ...mergedReports([own, ...Object.values(byDatabase)]), byDatabase };
  }

  #nowMs(): number {
    // The times of a problem are real time from the machine's clock, as in the lines of the log.
    return this.#options.nowMs?.() ?? Date.now();
  }
}

const shown = ({ seenMs: _, ...problem }: Current): DatabaseProblem => ({ ...problem });

function summed(all: readonly (ConnectionCounts | undefined)[]): ConnectionCounts | undefined {
  const known = all.filter((counts) => counts !== undefined);
  const sum = (of: keyof ConnectionCounts): number => known.reduce((total, counts) => total + counts[of], 0);
  return known.length === 0
    ? undefined
    : { connections: sum("connections"), inUse: sum("inUse"), waiting: sum("waiting"), waits: sum("waits"), waitedMs: sum("waitedMs") };
}

/** Merges the reports of several processes that use one database. */
export function mergedReports(reports: readonly DatabaseReport[]): DatabaseReport {
  const failures: Partial<Record<ProblemKind, number>> = {};
  for (const [kind, count] of reports.flatMap((report) => Object.entries(report.failures)))
    failures[kind as ProblemKind] = (failures[kind as ProblemKind] ?? 0) + count;
  const byKind = Map.groupBy(
    reports.flatMap(({ problems }) => problems),
    ({ kind, database = "" }) => `${kind} ${database}`,
  );
  const problems = [...byKind.values()].map((same) => {
    const newest = same.reduce((one, other) => (other.last_ms > one.last_ms ? other : one));
    return { ...newest, since_ms: Math.min(...same.map(({ since_ms }) => since_ms)), count: same.reduce((sum, { count }) => sum + count, 0) };
  });
  const byName = Map.groupBy(
    reports.flatMap(({ byDatabase = {} }) => Object.entries(byDatabase)),
    ([name]) => name,
  );
  const byDatabase = Object.fromEntries([...byName].map(([name, same]) => [name, mergedReports(same.map(([, report]) => report))]));
  return { problems, failures, pool: summed(reports.map(({ pool }) => pool)), ...(byName.size === 0 ? {} : { byDatabase }) };
}
