/** Child processes of the server: each runs this same program with another command. A child ends with its parent, because then its channel closes. */
import { type ChildProcess, spawn } from "node:child_process";
import { extname, join } from "node:path";

/** The folder of the program inside the single executable. The executable starts itself without the path of a program among its arguments. */
const INSIDE_EXECUTABLE = "/$bunfs/";

/** The file of this program's command line. In a bundle, all files are in one folder. */
const ownProgram = (): string => join(import.meta.dirname, extname(import.meta.filename) === ".ts" ? "../cli/plaza.ts" : "plaza.js");

/** Starts a child process. Messages to and from it are structured clones. The caller listens to the events `message`, `error` and `exit`. */
export function startChild(command: string, program = ownProgram()): ChildProcess {
  const isInside = program.startsWith(INSIDE_EXECUTABLE) || import.meta.dirname.startsWith(INSIDE_EXECUTABLE);
  return spawn(process.execPath, isInside ? [command] : [...process.execArgv, program, command], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}

/** A child process that ended by itself. Another attempt may succeed. */
export class ChildDied extends Error {
  constructor(command: string, ending: string) {
    super(`the child process ${command} ended with ${ending}`);
  }
}

/** A child process that has not answered in time. */
export class ChildIsSilent extends Error {}

export interface AskedChildOptions {
  /** The longest time for an answer. */
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
  /** Wakes the code that waits for an answer of the child, or for the end of the child. */
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

  /** Throws `ChildDied` or `ChildIsSilent`. */
  async ask(message: Question): Promise<Answer> {
    // A child that has just ended receives nothing; the code below notices its end.
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
