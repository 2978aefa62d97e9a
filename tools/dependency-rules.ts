/** Runs the rules of `.dependency-cruiser.cjs` and makes sure that they saw the code. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

/** With a TypeScript it does not know, dependency-cruiser sees no module and passes; 0.9 leaves room for files that are generated. */
const SEEN_SHARE_MIN = 0.9;

interface Report {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly unknown[] }[];
  readonly summary: { readonly violations: readonly Violation[] };
}

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
  readonly cycle?: readonly { readonly name: string }[];
}

const folders = ["src", "test", "tools", "conformance", "bench"].filter((folder) => existsSync(join(ROOT, folder)));

const run = Bun.spawnSync(
  ["node", "node_modules/dependency-cruiser/bin/dependency-cruise.mjs", "--config", ".dependency-cruiser.cjs", "--output-type", "json", ...folders],
  { cwd: ROOT, stderr: "inherit" },
);
const report = JSON.parse(run.stdout.toString()) as Report;
const { forbidden } = (await import(join(ROOT, ".dependency-cruiser.cjs"))).default as { forbidden: { name: string; comment: string }[] };
const reasons = new Map(forbidden.map(({ name, comment }) => [name, comment]));

for (const { from, to, rule, cycle } of report.summary.violations) {
  const what = cycle === undefined ? `${from} → ${to}` : [from, ...cycle.map(({ name }) => name)].join(" → ");
  console.error(`${rule.name}: ${what}\n  ${reasons.get(rule.name) ?? ""}`);
}

const files = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: ROOT })];
const seen = report.modules.filter(({ source }) => source.startsWith("src/") && source.endsWith(".ts"));
const needed = Math.ceil(files.length * SEEN_SHARE_MIN);
const edges = seen.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
console.log(`${seen.length} of ${files.length} modules of src seen, ${edges} imports, ${forbidden.length} rules`);
// A tree without imports is what it sees when it cannot parse: on average every module imports something.
const isBlind = seen.length < needed || edges < seen.length;
if (isBlind) console.error(`the rules saw only ${seen.length} modules (${needed} are needed) and ${edges} imports: they hold nothing`);
process.exit(isBlind || report.summary.violations.length > 0 ? 1 : 0);
