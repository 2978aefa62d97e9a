/** `npm run check`: runs all checks that do not run the program. `npm run check -- types tidy` runs only the named checks. */
import { BUN, runStep, type Step, seconds } from "./steps.ts";

const checks = {
  // Biome checks format and lint in one pass over the files.
  format: { name: "format and lint (npm run format fixes what can be fixed)", command: ["node_modules/.bin/biome", "ci", "--colors=off", "."] },
  types: { name: "types", command: ["node", "node_modules/typescript-native/bin/tsc", "--noEmit", "-p", "."] },
  console: { name: "types of the console, with those of the control API", command: [BUN, "tools/console/check.ts"] },
  firehose: { name: "types of the firehose", command: ["node", "node_modules/typescript-native/bin/tsc", "--noEmit", "-p", "clients/firehose"] },
  dependencies: { name: "dependency rules", command: [BUN, "tools/dependency-rules.ts"] },
  // Knip runs on Bun, because on Node it requires version 20.19.
  unused: { name: "what nobody uses (knip.jsonc)", command: [BUN, "node_modules/knip/bin/knip.js", "--no-progress"] },
  expressions: { name: "regular expressions in linear time", command: [BUN, "tools/tidy/regular-expressions.ts"] },
  tidy: { name: "tidy", command: [BUN, "tools/tidy.ts"] },
  docs: { name: "reference pages (npm run docs writes them)", command: [BUN, "tools/write-docs.ts", "--check"] },
  documents: { name: "rules for the OpenAPI and AsyncAPI documents", command: [BUN, "tools/lint/documents.ts"] },
  contract: { name: "what differs from the documents of the main branch, for information", command: [BUN, "tools/branch/contract.ts"] },
  commits: { name: "subjects of the commits that are not on the main branch yet", command: [BUN, "tools/branch/commits.ts"] },
} as const satisfies Record<string, Step>;

type CheckName = keyof typeof checks;

const isCheck = (name: string): name is CheckName => Object.hasOwn(checks, name);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !isCheck(name));
if (unknown.length > 0) {
  console.error(`no check is named ${unknown.join(", ")} (known: ${Object.keys(checks).join(", ")})`);
  process.exit(2);
}

const broken: string[] = [];
for (const name of Object.keys(checks).filter(isCheck)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const end = await runStep(checks[name]);
  console.log(`${end.exitCode === 0 ? "ok" : "BROKEN"}: ${name}, ${seconds(end.durationMs)}`);
  if (end.exitCode !== 0) broken.push(name);
}
console.log(broken.length === 0 ? "\nall checks hold" : `\nbroken: ${broken.join(", ")}`);
process.exit(broken.length === 0 ? 0 : 1);
