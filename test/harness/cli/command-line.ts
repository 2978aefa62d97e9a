/** `plaza …` in the process of the test: for commands that end when they have done something. */
import { program, readRoutes } from "#cli/program";
import { afterThisTest } from "../cleanup.ts";

/** Of the control API. */
export const routes = await readRoutes();

/** Resolves with the exit code. Rejects where commander refuses the command line. */
export async function commandLine(...words: readonly string[]): Promise<number> {
  const { exitCode } = process;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, listeners: stream.listeners("error") }));
  const restore = () => {
    // Each command listens for the end of its output.
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
