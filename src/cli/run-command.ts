/** Runs what the command line names. */
import { CommanderError } from "commander";
import { program } from "./program.ts";

/** An invalid option, or data that cannot be used: nothing was started (docs/operating.md: Start). */
const WRONG_USE = 2;

export async function runCommand(): Promise<void> {
  // The features are loaded for their settings where these matter: `start` and `exec` load them anyway, and a shell completes all options.
  const needsSettings = process.argv.slice(2, 4).some((word) => ["start", "exec", "completion"].includes(word));
  try {
    await program(needsSettings ? (await import("#features")).settings : []).parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
  }
}
