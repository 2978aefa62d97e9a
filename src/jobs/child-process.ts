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
