/** A copy of the project in the system's temporary folder, in which mutants are made and tests run. The project itself stays unchanged. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Files that tests need and that are not in git. Tests only read these files, so the copy links to them. */
const LINKED = [
  "node_modules",
  "console/node_modules",
  "console/dist",
  ".tools",
  "clients/testing/generated",
  "clients/typescript/src/generated",
  "docs/reference/config.schema.json",
  "docs/reference/world.schema.json",
];

const ANYBODY = 0o755;
const ANYBODY_WRITES = 0o1777;

/** The number of characters at the end of an output that are kept. The name of the failed test file is in the last characters of the output. */
const OUTPUT_CHARACTERS_MAX = 100_000;

const STREAMS_END_MS = 2_000;

/** The number of attempts to remove the copy, which together take at least a minute, enough for a busy machine. */
const REMOVALS_MAX = 600;
const REMOVAL_PAUSE_MS = 100;

export type Ended = "passed" | "failed" | "timeout";

export class WorkCopy {
  readonly root: string;
  readonly #folder: string;
  /** The temporary folder for the files that tests leave behind. */
  readonly #temporary: string;
  #child: ChildProcess | undefined;

  constructor(from: string, paths: readonly string[]) {
    this.#folder = mkdtempSync(join(tmpdir(), "plaza-mutants-"));
    this.root = join(this.#folder, "project");
    this.#temporary = join(this.#folder, "tmp");
    // Any user may enter the folder, because tests start PostgreSQL as another user.
    chmodSync(this.#folder, ANYBODY);
    mkdirSync(this.#temporary);
    chmodSync(this.#temporary, ANYBODY_WRITES);
    for (const path of paths.filter((each) => existsSync(join(from, each)))) {
      mkdirSync(join(this.root, dirname(path)), { recursive: true });
      // The files are copied instead of linked, because a test that writes to a linked file would write to the project.
      copyFileSync(join(from, path), join(this.root, path), constants.COPYFILE_FICLONE);
    }
    for (const path of LINKED.filter((each) => existsSync(join(from, each)))) symlinkSync(join(from, path), join(this.root, path));
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  /** Runs a program in the copy. After the time limit, the program is ended with all processes that it started. */
  run(
    command: readonly [string, ...string[]],
    withinMs: number,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ ended: Ended; output: string }> {
    const [program, ...args] = command;
    // GITHUB_ACTIONS is emptied, because Bun prints the names of test files in another form on GitHub.
    const env = { ...process.env, ...environment, TMPDIR: this.#temporary, GITHUB_ACTIONS: "", NO_COLOR: "1" };
    const child = spawn(program, args, { cwd: this.root, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let output = "";
    let isLate = false;
    const note = (bytes: Buffer): void => {
      output = (output + bytes.toString()).slice(-OUTPUT_CHARACTERS_MAX);
    };
    child.stdout.on("data", note);
    child.stderr.on("data", note);
    const watch = setTimeout(() => {
      isLate = true;
      this.#end();
    }, withinMs);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", (code) => {
        clearTimeout(watch);
        this.#end();
        this.#child = undefined;
        const end = (): void => resolve({ ended: isLate ? "timeout" : code === 0 ? "passed" : "failed", output });
        // The promise resolves when the streams are closed, or after some time, because a process that left the process group may hold the
        // streams open for ever. The last lines are already in the pipe when the program has ended.
        child.on("close", end);
        setTimeout(end, STREAMS_END_MS);
      });
    });
  }

  remove(): void {
    this.#end();
    // A PostgreSQL server of the tests writes to its folder until its watchdog ends it. So that nobody waits for PostgreSQL, the copied files of
    // the project are removed before PostgreSQL's files.
    for (const folder of [this.root, this.#folder]) {
      for (let tries = 0; existsSync(folder) && tries < REMOVALS_MAX; tries++) {
        try {
          rmSync(folder, { recursive: true, force: true });
        } catch {
          Bun.sleepSync(REMOVAL_PAUSE_MS);
        }
      }
    }
  }

  /** Ends the program and its process group, which has nearly all processes that the program started. */
  #end(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    kill(-pid);
    for (const program of this.#programsLeft()) kill(program);
  }

  /**
   * Finds programs of Plaza that left the process group, on Linux only. A mutant may make a program of Plaza loop, so that the program ignores
   * all signals but SIGKILL.
   */
  #programsLeft(): number[] {
    if (!existsSync("/proc/self/environ")) return [];
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        try {
          const isBun = basename(readlinkSync(`/proc/${name}/exe`)).startsWith("bun");
          return isBun && readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(`TMPDIR=${this.#temporary}`);
        } catch {
          // The process has already ended.
          return false;
        }
      })
      .map(Number);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // All processes have already ended.
  }
}
