/**
 * The program that is running, and child processes of the server. Each child process runs the server's program with another command. When the parent
 * process ends, its channel to the child closes, and the child ends, too.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, extname, join } from "node:path";

/** The folder in which a single executable has its modules. */
const INSIDE_EXECUTABLE = "/$bunfs/";

/** Whether the program is a single executable. A single executable starts itself without the path of a script as an argument. */
export const isExecutable: boolean = import.meta.dirname.startsWith(INSIDE_EXECUTABLE);

const isSource = extname(import.meta.filename) === ".ts";

/**
 * The folder of the source tree or of the package. The bundle of a package is in a folder below the package's folder, and the executable of a clone
 * in a folder below the source tree.
 */
export const ROOT: string = isSource
  ? join(import.meta.dirname, "../..")
  : join(isExecutable ? dirname(process.execPath) : import.meta.dirname, "..");

/**
 * The script that runs this program, if the program is not a single executable. All files of a bundle are in one folder, so the script is beside this
 * module.
 */
const PROGRAM: string = isSource ? join(ROOT, "src/cli/plaza.ts") : join(import.meta.dirname, "plaza.js");

/**
 * Starts a child process. Parent and child process exchange messages as structured clones. The caller listens to the events `message`, `error` and
 * `exit`.
 */
export function startChild(command: string, program = PROGRAM): ChildProcess {
  return spawn(process.execPath, isExecutable ? [command] : [...process.execArgv, program, command], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}

/** The error of a child process that ended unexpectedly. After this error the caller may try again with a new child process. */
export class ChildDied extends Error {
  constructor(command: string, ending: string) {
    super(`the child process ${command} ended with ${ending}`);
  }
}

/** The error of a child process that did not answer in time. */
export class ChildIsSilent extends Error {}

export interface AskedChildOptions {
  /** The longest time that the child process may take for one answer, in ms. */
  readonly turnMsMax: number;
  readonly program?: string | undefined;
}

/** A child process that answers each message of its parent with one message. Parent and child process send messages in turn. */
export class AskedChild<Question extends object, Answer> {
  readonly #command: string;
  readonly #child: ChildProcess;
  readonly #turnMsMax: number;
  readonly #answers: Answer[] = [];
  #died: ChildDied | undefined;
  /** Wakes the code that waits until the child answers or ends. */
  #wake = (): void => {};

  constructor(command: string, { turnMsMax, program }: AskedChildOptions) {
    this.#command = command;
    this.#turnMsMax = turnMsMax;
    this.#child = startChild(command, program);
    this.#child.on("message", (message: Answer) => {
      this.#answers.push(message);
      this.#wake();
    });
    this.#child.on("error", (error) => this.#end(error.message));
    this.#child.on("exit", (code, signal) => this.#end(signal ?? `exit code ${code}`));
  }

  /**
   * Sends a message to the child process and resolves with the child's answer. The promise rejects with `ChildDied` if the child ends, or with
   * `ChildIsSilent` if it does not answer in time.
   */
  async ask(message: Question): Promise<Answer> {
    // A message to a child process that has just ended has no effect; the code below notices that the child has ended.
    if (this.#child.connected) this.#child.send(message, () => {});
    const waited = Promise.withResolvers<void>();
    this.#wake = () => waited.resolve();
    if (this.#answers.length > 0 || this.#died !== undefined) waited.resolve();
    // timer: the child process takes real time, so the machine's clock limits its time to answer, and not the world's clock.
    const timer = setTimeout(() => waited.resolve(), this.#turnMsMax);
    await waited.promise;
    clearTimeout(timer);
    const answer = this.#answers.shift();
    if (answer !== undefined) return answer;
    throw this.#died ?? new ChildIsSilent();
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #end(ending: string): void {
    this.#died ??= new ChildDied(this.#command, ending);
    this.#wake();
  }
}
