/** The program of the conformance suite: `bun conformance/run.ts --help`. */
import { parseArgs } from "node:util";
import { type Case, onOneServer } from "./cases.ts";
import type { Receiver } from "./http/receiver.ts";
import { type Note, notReady, resultOf, runOnGiven } from "./run-cases.ts";
import { startServer } from "./server.ts";
import { runSuite, SUITE_HELP, SuiteProblem } from "./suite.ts";

const HELP = `Runs the cases of conformance/cases against a server and says which clauses of the interface they cover.

  --base-url URL      a server that runs already; without this option, servers are started from bin/plaza
  --control-url URL   its control API, for cases that mint tokens or move the clock
  --control-key KEY   the key of that control API
  --profile NAME      the profile that the given server runs in: strict (default) or clients
  --data WHERE        for started servers: :memory: (default), a folder, or postgres://…
${SUITE_HELP}`;

const { values: options } = parseArgs({
  options: {
    "base-url": { type: "string" },
    "control-url": { type: "string" },
    "control-key": { type: "string" },
    profile: { type: "string", default: "strict" },
    data: { type: "string", default: ":memory:" },
    area: { type: "string", multiple: true },
    clause: { type: "string", multiple: true },
    title: { type: "string" },
    list: { type: "boolean" },
    json: { type: "boolean" },
    failures: { type: "boolean" },
    uncovered: { type: "boolean" },
    junit: { type: "string" },
    html: { type: "string" },
    help: { type: "boolean" },
  },
});

/** Starts one server after the other, for each response profile and world, and runs the cases of each server. */
async function runOnOwn(cases: readonly Case[], receiver: Receiver, note: Note): Promise<void> {
  for (const group of onOneServer(cases)) {
    const [first] = group;
    if (first === undefined) continue;
    const server = await startServer(first, options.data, receiver.address).catch((error: unknown) => {
      for (const testCase of group) note(notReady(testCase, error));
      return undefined;
    });
    if (server === undefined) continue;
    for (const testCase of group) {
      const ready = testCase.isAlone ? server.reset() : Promise.resolve();
      note(
        await ready.then(
          () => resultOf(testCase, server, receiver),
          (error: unknown) => notReady(testCase, error),
        ),
      );
    }
    await server.stop();
  }
}

function run(cases: readonly Case[], receiver: Receiver, note: Note): Promise<void> {
  const { "base-url": baseUrl, "control-url": controlUrl, "control-key": controlKey, profile } = options;
  if (baseUrl === undefined) return runOnOwn(cases, receiver, note);
  const server = { baseUrl, ...(controlUrl === undefined ? {} : { controlUrl }), ...(controlKey === undefined ? {} : { controlKey }) };
  return runOnGiven(server, profile, cases, receiver, note);
}

try {
  if (options.help === true) console.log(HELP);
  else process.exitCode = await runSuite(options, run);
} catch (error) {
  const option = error instanceof SuiteProblem ? `${error.option}: ` : "";
  console.error(error instanceof Error ? `${option}${error.message}` : error);
  process.exitCode = 2;
}
