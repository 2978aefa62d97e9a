/** A program with a rejected promise that nobody awaits. The rejection must not end the program, which still runs a moment later. */
import { Log, outliveStrayFailures } from "#telemetry/log";

const log = new Log({ level: "info", isPretty: false });
outliveStrayFailures(log);
void Promise.reject(new Error("nobody waits for me"));
await Bun.sleep(5);
await log.flush();
process.stdout.write("still here\n");
