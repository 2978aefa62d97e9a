/** Runs the rules of `.dependency-cruiser.cjs` and makes sure that they saw the code. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

/** With a TypeScript it does not know, dependency-cruiser sees no module and passes; 0.9 allows for files that are generated. */
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

const FOLDERS = ["src", "test", "tools", "conformance", "bench"];

/** Runs the rules over the server at `root`. */
export function cruise(root: string): Report {
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const program = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const config = join(ROOT, ".dependency-cruiser.cjs");
  const { stdout, stderr } = Bun.spawnSync(["node", program, "--config", config, "--output-type", "json", ...folders], { cwd: root });
  if (stdout.length === 0) throw new Error(`dependency-cruiser said nothing: ${stderr}`);
  return JSON.parse(stdout.toString()) as Report;
}

const { forbidden } = (await import(join(ROOT, ".dependency-cruiser.cjs"))).default as { forbidden: readonly { name: string; comment: string }[] };

export const ruleNames: readonly string[] = forbidden.map(({ name }) => name);

function violationText({ from, to, rule, cycle }: Violation): string {
  const what = cycle === undefined ? `${from} → ${to}` : [from, ...cycle.map(({ name }) => name)].join(" → ");
  return `${rule.name}: ${what}\n  ${forbidden.find(({ name }) => name === rule.name)?.comment ?? ""}`;
}

if (import.meta.main) {
  const { modules, summary } = cruise(ROOT);
  for (const violation of summary.violations) console.error(violationText(violation));
  const files = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: ROOT })];
  const seen = modules.filter(({ source }) => source.startsWith("src/") && source.endsWith(".ts"));
  const needed = Math.ceil(files.length * SEEN_SHARE_MIN);
  const edges = seen.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
  console.log(`${seen.length} of ${files.length} modules of src seen, ${edges} imports, ${forbidden.length} rules`);
  // A tree without imports is what it sees when it cannot parse: on average every module imports something.
  const isBlind = seen.length < needed || edges < seen.length;
  if (isBlind) console.error(`the rules saw only ${seen.length} modules (${needed} are needed) and ${edges} imports: they hold nothing`);
  process.exit(isBlind || summary.violations.length > 0 ? 1 : 0);
}
