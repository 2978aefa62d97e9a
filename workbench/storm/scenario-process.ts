/**
 * Runs a command as the scenario of a storm. The command gets the addresses of its world in environment variables. After the time limit the command
 * is ended with all its child processes.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** The number of characters of the output that are kept. The end of the output is kept, because programs print their error at the end. */
const KEPT_CHARACTERS = 16_384;
const KEPT_LINES = 4;

/** All running processes, which are ended when the storm ends. */
const running = new Set<ChildProcess>();

export interface ScenarioCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Resolves when the process ends with the exit code 0. If the process ends with another exit code, rejects with this code and the last lines of the
 * process's output.
 */
export async function runProcess({ program, args, env }: ScenarioCommand, signal: AbortSignal): Promise<void> {
  // The process gets a process group of its own, so that the children of the scenario end with it.
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  running.add(child);
  let kept = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      kept = (kept + part).slice(-KEPT_CHARACTERS);
    });
  const end = (): void => endGroup(child);
  signal.addEventListener("abort", end);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("error", (error) => reject(new Error(`${program} cannot be run: ${error.message}`)));
      child.once("exit", (code, ended) => {
        if (code === 0) resolve();
        // Output may still arrive after the exit.
        else setImmediate(() => reject(new Error([`the command ended with ${code ?? ended}`, ...lastLines(kept)].join("\n"))));
      });
    });
  } finally {
    signal.removeEventListener("abort", end);
    running.delete(child);
    endGroup(child);
  }
}

/** Ends all running processes. */
export function endProcesses(): void {
  for (const child of running) endGroup(child);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process group has already ended.
  }
}

/**
 * Returns the lines from the last line that names an error, because a runtime prints details after the error. If no line names an error, the function
 * returns the last lines.
 */
function lastLines(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const named = lines.findLastIndex((line) => NAMES_ERROR.test(line));
  return named === -1 ? lines.slice(-KEPT_LINES) : lines.slice(named, named + KEPT_LINES);
}

const NAMES_ERROR = /^(?:Uncaught )?(?:\w+ )?\w*(?:Error|Exception)\b(?: \[\w+\])?:/;
