/** `npm run bench [-- name …] [--rounds N] [--seconds N] [--check]`: runs the named benches of `benches/`, or all of them. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { prepareClient } from "./harness/load.ts";
import { describeMachine } from "./harness/machine.ts";
import { type Bench, isMet, keep, metricLine } from "./harness/report.ts";

/** The default number of rounds. With five rounds, one disturbed round does not change the median. */
const ROUNDS_DEFAULT = "5";
/** The default length of a round in seconds. A round is so long that CPU times in steps of 10 ms are exact enough. */
const SECONDS_DEFAULT = "4";

const { values, positionals } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: ROUNDS_DEFAULT },
    seconds: { type: "string", default: SECONDS_DEFAULT },
    /** Whether the exit code is 1 if a goal is missed. */
    check: { type: "boolean", default: false },
  },
});
const options = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
/** The file of each bench, by the name of the bench. */
const files = new Map(
  readdirSync(join(import.meta.dir, "benches"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [basename(file, ".ts"), file]),
);
const names = [...files.keys()].sort();
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0 || !(options.rounds > 0) || !(options.seconds > 0)) {
  console.error(
    unknown.length > 0
      ? `there is no bench ${unknown.join(", ")}; the benches are ${names.join(", ")}`
      : "rounds and seconds must be positive numbers",
  );
  process.exit(2);
}

const machine = describeMachine(await prepareClient());
const plaza = (JSON.parse(readFileSync(join(import.meta.dir, "..", "package.json"), "utf8")) as { version: string }).version;
const command = ["npm run bench", ...(Bun.argv.length > 2 ? ["--", ...Bun.argv.slice(2)] : [])].join(" ");
let missed = 0;
for (const name of positionals.length > 0 ? positionals : names) {
  const { bench } = (await import(`./benches/${files.get(name)}`)) as { bench: Bench };
  console.log(`${name}: ${bench.summary}`);
  const result = await bench.run(options);
  for (const metric of result.metrics) {
    console.log(metricLine(metric));
    if (isMet(metric) === false) missed++;
  }
  for (const { name: what, unit, median, min, max } of result.absolute)
    console.log(`  ${what}: ${median.toFixed(2)} ${unit} (${min.toFixed(2)} to ${max.toFixed(2)})`);
  keep(name, { ...result, summary: bench.summary, command, date: new Date().toISOString().slice(0, 16), plaza, machine, ...options }, names);
}
process.exit(values.check && missed > 0 ? 1 : 0);
