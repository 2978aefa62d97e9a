/** The program `bin/plaza`. Processes that a server starts do not load the command line. */
import "./processes/private-files.ts";

if (process.argv.at(-1) === "ingest") {
  const { ingest } = await import("./ingest.ts");
  process.exitCode = await ingest();
} else if (process.argv.at(-1) === "read-feed") {
  const { readFeedForServer } = await import("./read-feed.ts");
  process.exitCode = await readFeedForServer();
} else if (process.argv.at(-1) === "read-world-file") {
  const { readWorldFileForServer } = await import("./processes/read-world-file.ts");
  process.exitCode = await readWorldFileForServer();
} else if (process.argv.at(-1) === "check-data") {
  const { checkData } = await import("./check-data.ts");
  process.exitCode = await checkData();
} else {
  const { runCommand } = await import("./program.ts");
  await runCommand();
}
