/** The program `bin/plaza`. Processes that a server starts do not load the command line. */
import "./processes/private-files.ts";

/** The processes that a server starts, by their commands. */
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
