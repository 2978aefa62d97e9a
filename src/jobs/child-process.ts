/** Child processes of the server: this same program with another command. A child ends with its parent, because its channel closes. */
import { type ChildProcess, spawn } from "node:child_process";
import { extname, join } from "node:path";

/** The folder of the program inside the single executable, which starts itself without naming it. */
const INSIDE_EXECUTABLE = "/$bunfs/";

/** A bundle is one folder. */
const ownProgram = (): string => join(import.meta.dirname, extname(import.meta.filename) === ".ts" ? "../cli/plaza.ts" : "plaza.js");

/** Messages are structured clones. The caller listens to `message`, `error` and `exit`. */
export function startChild(command: string, program = ownProgram()): ChildProcess {
  const isInside = program.startsWith(INSIDE_EXECUTABLE) || import.meta.dirname.startsWith(INSIDE_EXECUTABLE);
  return spawn(process.execPath, isInside ? [command] : [...process.execArgv, program, command], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}
