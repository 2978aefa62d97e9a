/** The program `bin/plaza`. A child process of a server does not load the modules of the command line, so that it starts faster. */
import "./processes/private-files.ts";

/** The commands that a server starts as child processes. */
const processes: Readonly<Record<string, () => Promise<number>>> = {
  ingest: async () => (await import("./ingest.ts")).ingest(),
  "read-feed": async () => (await import("./processes/child-processes.ts")).readFeedForServer(),
  "read-world-file": async () => (await import("./processes/child-processes.ts")).readWorldFileForServer(),
  "check-data": async () => (await import("./processes/child-processes.ts")).checkData(),
};

const command = process.argv.at(-1) ?? "";
const run = Object.hasOwn(processes, command) ? processes[command] : undefined;
if (run !== undefined) process.exitCode = await run();
else await (await import("./program.ts")).runCommand();
