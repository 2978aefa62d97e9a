/**
 * A private PostgreSQL cluster for tests, with a folder and a port of its own and without syncs. A watchdog process ends the cluster and removes its
 * folder as soon as the process that started the cluster has ended in any way.
 */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findPostgres } from "#test-runs/postgres";
import { childrenOf, isRunning } from "./processes/children.ts";
import { freePort } from "./processes/free-port.ts";

interface ClusterOptions {
  /** Whether the cluster syncs to disk, as in production; measurements need these syncs. */
  readonly isDurable: boolean;
  /** Whether the cluster logs all statements, for `preparedStatements`. */
  readonly logsStatements: boolean;
}

type StopMode = "smart" | "fast" | "immediate";

export interface PostgresCluster {
  /** The address of the database `postgres`, by TCP on loopback, with a superuser. */
  readonly url: string;
  /** Makes an empty database and returns its address. */
  newDatabase(): Promise<string>;
  /** Shuts the server down. `start` starts the server on the same port with the same data. */
  halt(mode: StopMode): Promise<void>;
  start(): Promise<void>;
  restart(mode: StopMode): Promise<void>;
  /** Kills the server with SIGKILL, as if its machine were lost. `start` starts the killed server with the same data. */
  kill(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
  /** Every prepared statement that was executed so far, with `$1`, `$2`, …. Needs `logsStatements`. */
  preparedStatements(): string[];
  /** Starts a standby: a cluster that follows this one and refuses writes. */
  newStandby(): Promise<PostgresCluster>;
  /** Promotes a standby to the primary, which accepts writes. */
  promote(): Promise<void>;
  /** After the next start, the cluster refuses writes and follows no primary, as a demoted primary does. */
  demote(): void;
}

/**
 * The watchdog waits for the end of a pipe, whose other end the system closes when the process that holds it ends. The watchdog is nobody's child,
 * because Bun kills its known children when a test takes too long.
 */
const WATCHDOG = `
(
  cat > /dev/null
  pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null)
  if [ -n "$pid" ]; then
    kill -QUIT "$pid" 2> /dev/null
    # One that has ended may stay a zombie until the system has asked for it.
    while kill -0 "$pid" 2> /dev/null && ! grep -qs "^State:.Z" "/proc/$pid/status"; do sleep 0.05; done
  fi
  rm -rf "$1"
) < "$1/alive" &
`;

/** The number of tries to start on a free port, because another program may take the port before the server does. */
const START_ATTEMPTS_MAX = 3;

/**
 * The user that PostgreSQL runs as; undefined for the current user. Root may not run PostgreSQL, so root uses the user of Debian's package, or
 * nobody.
 */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [user] = ["postgres", "nobody"].filter((name) => Bun.spawnSync(["id", name]).success);
  const idOf = (flag: string) => Number(execFileSync("id", [flag, user ?? "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Whether other users may read a folder. If the clone is inside root's own folder, the user that PostgreSQL runs as cannot read the clone. */
function isOpenToOthers(folder: string): boolean {
  const parts = folder.split("/");
  return parts.every((_, at) => (statSync(parts.slice(0, at + 1).join("/") || "/").mode & 0o001) !== 0);
}

class RunningCluster implements PostgresCluster {
  readonly #folder: string;
  readonly #programs: string;
  readonly #user: { uid: number; gid: number } | undefined;
  /** The write end of the pipe that keeps the watchdog waiting. */
  readonly #alive: number;
  readonly #options: ClusterOptions;
  #port = 0;
  #databases = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const programs = findPostgres();
    if (programs === undefined) throw new Error("PostgreSQL is needed for these tests: npm test installs it, in .tools/postgres");
    this.#user = serverUser();
    this.#folder = mkdtempSync(join(tmpdir(), "plaza-postgres-"));
    if (this.#user !== undefined) chownSync(this.#folder, this.#user.uid, this.#user.gid);
    const isHidden = this.#user !== undefined && !isOpenToOthers(programs);
    if (isHidden) cpSync(join(programs, ".."), join(this.#folder, "programs"), { recursive: true, verbatimSymlinks: true });
    this.#programs = isHidden ? join(this.#folder, "programs/bin") : programs;
    const pipe = join(this.#folder, "alive");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    // The pipe is opened for reading and writing, because such an open does not wait for a process at the other end.
    this.#alive = openSync(pipe, "r+");
    // The watchdog has a session of its own, so that Ctrl-C in the terminal ends the tests and not the watchdog, which cleans up after them.
    spawn("sh", ["-c", WATCHDOG, "watchdog", this.#folder], { detached: true, stdio: "ignore" });
  }

  get url(): string {
    return this.#urlOf("postgres");
  }

  create(): Promise<void> {
    return this.#create("initdb", ["-D", join(this.#folder, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
  }

  preparedStatements(): string[] {
    const entries = readFileSync(join(this.#folder, "log"), "utf8").split(/\n(?=\d{4}-\d\d-\d\d \d\d:)/);
    const texts = entries.map((entry) => /LOG: {2}execute s\d+: ([\s\S]*)$/.exec(entry)?.[1]?.replaceAll("\n\t", "\n"));
    return [...new Set(texts.filter((text) => text !== undefined))];
  }

  async newStandby(): Promise<PostgresCluster> {
    const standby = new RunningCluster(this.#options);
    await standby.#create("pg_basebackup", ["-D", join(standby.#folder, "data"), "-d", this.url, "-R", "-c", "fast", "--no-sync"]);
    return standby;
  }

  promote(): Promise<void> {
    return this.#control("promote");
  }

  demote(): void {
    writeFileSync(join(this.#folder, "data", "standby.signal"), "");
  }

  async #create(program: string, args: string[]): Promise<void> {
    await this.#run(program, args);
    for (let attempt = 1; ; attempt++) {
      this.#port = freePort();
      try {
        await this.start();
        return;
      } catch (error) {
        if (attempt === START_ATTEMPTS_MAX) throw new Error(`PostgreSQL does not start: ${this.#log()}`, { cause: error });
      }
    }
  }

  async newDatabase(): Promise<string> {
    const name = `test_${++this.#databases}`;
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
    } finally {
      await client.end();
    }
    return this.#urlOf(name);
  }

  async start(): Promise<void> {
    await this.#control("start", "-l", join(this.#folder, "log"), "-o", this.#settings());
  }

  async halt(mode: StopMode): Promise<void> {
    await this.#control("stop", "-m", mode);
  }

  async restart(mode: StopMode): Promise<void> {
    await this.halt(mode);
    await this.start();
  }

  async kill(): Promise<void> {
    const pid = Number(readFileSync(join(this.#folder, "data", "postmaster.pid"), "utf8").split("\n", 1)[0]);
    for (const each of [pid, ...childrenOf(pid)]) if (each > 1) kill(each);
    // A dead process is enough, because the system decides when to reap the process. Until the dead process is reaped, PostgreSQL would believe
    // that the lock files belong to a running process.
    while (isRunning(pid)) await Bun.sleep(10);
    for (const lock of ["data/postmaster.pid", `.s.PGSQL.${this.#port}.lock`]) rmSync(join(this.#folder, lock), { force: true });
  }

  async stop(): Promise<void> {
    closeSync(this.#alive);
    while (existsSync(this.#folder)) await Bun.sleep(10);
  }

  #urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }

  #settings(): string {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.#port,
      unix_socket_directories: this.#folder,
      // The limit of connections is high because each database has its own pool, and every test file has databases of its own.
      max_connections: 200,
      shared_preload_libraries: "",
      // Tests run without syncs, because no power failure happens in a test and syncs are slow. A killed server keeps its commits, because the system
      // has them, although they are not synced to the disk.
      fsync: this.#options.isDurable ? "on" : "off",
      full_page_writes: this.#options.isDurable ? "on" : "off",
      shared_buffers: "32MB",
      log_statement: this.#options.logsStatements ? "all" : "none",
    };
    return Object.entries(settings)
      .map(([name, value]) => `-c ${name}='${value}'`)
      .join(" ");
  }

  #control(command: string, ...rest: string[]): Promise<void> {
    return this.#run("pg_ctl", [command, "-D", join(this.#folder, "data"), "-w", "-t", "60", ...rest]);
  }

  /**
   * Runs a program of PostgreSQL. The server that pg_ctl starts keeps pg_ctl's output streams open, so these must not be pipes whose end somebody
   * waits for.
   */
  #run(program: string, args: string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn(join(this.#programs, program), args, {
        ...this.#user,
        cwd: this.#folder,
        env: { PATH: process.env.PATH, LC_ALL: "C" },
        stdio: "ignore",
        detached: true,
      });
      child.on("error", reject);
      child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${program} ${args[0]} failed with ${code}: ${this.#log()}`))));
    });
  }

  #log(): string {
    const file = join(this.#folder, "log");
    return existsSync(file) ? readFileSync(file, "utf8").slice(-2_000) : "(no log)";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended meanwhile.
  }
}

export async function startPostgresCluster({ isDurable = false, logsStatements = false } = {}): Promise<PostgresCluster> {
  const cluster = new RunningCluster({ isDurable, logsStatements });
  try {
    await cluster.create();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

const SHARED = Symbol.for("plaza.sharedPostgres");
const holder = globalThis as { [SHARED]?: Promise<PostgresCluster> };

/**
 * The cluster that all tests of the process share. The first call of the function starts the cluster. A test that must not share its database uses
 * `newDatabase`.
 */
export function sharedPostgres(): Promise<PostgresCluster> {
  holder[SHARED] ??= startPostgresCluster();
  return holder[SHARED];
}
