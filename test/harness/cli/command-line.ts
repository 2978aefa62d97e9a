/** Runs `plaza …` in the process of the test, for commands that end by themselves. */
import { program, readRoutes } from "#cli/program";
import { afterThisTest } from "../cleanup.ts";

/** The routes of the control API. */
export const routes = await readRoutes();

/** Runs a command line. The promise resolves with the exit code. The promise rejects if commander refuses the command line. */
export async function commandLine(...words: readonly string[]): Promise<number> {
  const { exitCode } = process;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, listeners: stream.listeners("error") }));
  const restore = () => {
    // Each command adds listeners for errors of its output, and this code removes them.
    for (const { stream, listeners } of streams)
      for (const one of stream.listeners("error")) if (!listeners.includes(one)) stream.removeListener("error", one as () => void);
    process.exitCode = exitCode ?? 0;
  };
  afterThisTest(restore);
  try {
    process.exitCode = 0;
    await program({ routes }).parseAsync(words, { from: "user" });
    return Number(process.exitCode);
  } finally {
    restore();
  }
}
