/** A copy of the project in the system's temporary folder, where mutants are put and tests are run. Nothing is written to the project itself. */
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

/** Files that git does not have and the tests need. They only read them. */
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

/** The name of a test file is near the end of the output of a run. */
const OUTPUT_CHARACTERS_MAX = 100_000;

const STREAMS_END_MS = 2_000;

/** A minute, on a machine that is busy. */
const REMOVALS_MAX = 600;
const REMOVAL_PAUSE_MS = 100;

export type Ended = "passed" | "failed" | "timeout";

export class WorkCopy {
  readonly root: string;
  readonly #folder: string;
  /** For what the tests leave behind. */
  readonly #temporary: string;
  #child: ChildProcess | undefined;

  constructor(from: string, paths: readonly string[]) {
    this.#folder = mkdtempSync(join(tmpdir(), "plaza-mutants-"));
    this.root = join(this.#folder, "project");
    this.#temporary = join(this.#folder, "tmp");
    // A PostgreSQL that tests start runs as another user.
    chmodSync(this.#folder, ANYBODY);
    mkdirSync(this.#temporary);
    chmodSync(this.#temporary, ANYBODY_WRITES);
    for (const path of paths.filter((each) => existsSync(join(from, each)))) {
      mkdirSync(join(this.root, dirname(path)), { recursive: true });
      // Not a hard link: a test that writes to it would write to the project.
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

  /** Runs a program in the copy, and ends it and all that it started when it takes longer. */
  run(
    command: readonly [string, ...string[]],
    withinMs: number,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ ended: Ended; output: string }> {
    const [program, ...args] = command;
    // On GitHub, Bun names the files of tests in another way.
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
        // Its last lines are in the pipe already; what left its group may hold its streams open for ever.
        child.on("close", end);
        setTimeout(end, STREAMS_END_MS);
      });
    });
  }

  remove(): void {
    this.#end();
    // A PostgreSQL of the tests is ended by a watch of its own, and writes until then: the rest does not wait for it.
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

  /** It is the first of a group of its own, in which nearly all stand that it started. */
  #end(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    kill(-pid);
    for (const program of this.#programsLeft()) kill(program);
  }

  /** Programs of Plaza that left the group: a mutant may spin, and hear of no signal that can be caught. Known on Linux alone. */
  #programsLeft(): number[] {
    if (!existsSync("/proc/self/environ")) return [];
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        try {
          const isBun = basename(readlinkSync(`/proc/${name}/exe`)).startsWith("bun");
          return isBun && readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(`TMPDIR=${this.#temporary}`);
        } catch {
          // It has ended meanwhile.
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
    // All have ended.
  }
}
