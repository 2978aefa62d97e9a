/**
 * Child processes of the server. Each child runs this same program with another command. When the parent ends, the channel between them closes, and
 * the child ends, too.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { extname, join } from "node:path";

/**
 * The folder that has the program inside the single executable. The executable does not need the path of a program as an argument to start itself.
 */
const INSIDE_EXECUTABLE = "/$bunfs/";

/** The file with this program's command line. In a bundle, all files are in one folder. */
const ownProgram = (): string => join(import.meta.dirname, extname(import.meta.filename) === ".ts" ? "../cli/plaza.ts" : "plaza.js");

/**
 * Starts a child process. Parent and child exchange messages as structured clones. The caller listens to the events `message`, `error` and `exit`.
 */
export function startChild(command: string, program = ownProgram()): ChildProcess {
  const isInside = program.startsWith(INSIDE_EXECUTABLE) || import.meta.dirname.startsWith(INSIDE_EXECUTABLE);
  return spawn(process.execPath, isInside ? [command] : [...process.execArgv, program, command], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}

/** The error of a child process that ended unexpectedly. The caller may try again with a new child. */
export class ChildDied extends Error {
  constructor(command: string, ending: string) {
    super(`the child process ${command} ended with ${ending}`);
  }
}

/** The error of a child process that did not answer in time. */
export class ChildIsSilent extends Error {}

export interface AskedChildOptions {
  /** The longest time for one answer, in ms. */
  readonly turnMsMax: number;
  readonly program?: string | undefined;
}

/** A child process that answers each message of its parent with one message. Parent and child take turns. */
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

  /** Sends a message and resolves with the child's answer. Rejects with `ChildDied` or `ChildIsSilent`. */
  async ask(message: Question): Promise<Answer> {
    // Sending to a child that has just ended does nothing; the code below notices that the child has ended.
    if (this.#child.connected) this.#child.send(message, () => {});
    const waited = Promise.withResolvers<void>();
    this.#wake = () => waited.resolve();
    if (this.#answers.length > 0 || this.#died !== undefined) waited.resolve();
    // timer: the child process takes real time, so its turn is limited by the machine's clock and not by the world's.
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
