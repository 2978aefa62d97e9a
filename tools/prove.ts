/**
 * `npm run prove`: runs the tests of test/faults, test/model, test/package, test/properties and test/worlds with many more tries (`tries` of
 * test/harness/proof.ts), and the files `*.proof.ts`, which only this command runs. `npm run prove -- kill` runs only the files whose name contains
 * the word `kill`. `npm run prove -- repeat 8h` repeats all tests for eight hours (`test-runs/repeat.ts`).
 */

import { BUN, ROOT, runStep, seconds } from "./steps.ts";
import { countOf, stepsOf } from "./test.ts";
import { repeat } from "./test-runs/repeat.ts";

/** The time limit of a proof, which is enough for 20 kills with a restart each, or for 100,000 requests, on a slow machine. */
const PROOF_TIMEOUT_MS = 3_600_000;

const words = process.argv.slice(2);
if (words[0] === "repeat") process.exit(await repeat(words.slice(1), stepsOf));
const files = ["test/{faults,model,package,properties,worlds}/**/*.test.ts", "test/**/*.proof.ts"]
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: ROOT })])
  .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no proof is named ${words.join(", ")}`);
  process.exit(2);
}

const end = await runStep({
  name: files.join(" "),
  command: [BUN, "test", `--timeout=${PROOF_TIMEOUT_MS}`, ...files.map((path) => `./${path}`)],
  env: { PLAZA_PROVE: "1" },
});
const { passed, failed } = countOf(end);
console.log(`\n${passed} passed, ${failed} failed in ${seconds(end.durationMs)}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
