/** Runs the rules of `.dependency-cruiser.cjs`, and checks that dependency-cruiser has read the code. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

/**
 * The fraction of modules that dependency-cruiser must read: with an unsupported version of TypeScript, dependency-cruiser reads no module and
 * reports no error. The value is 0.9 and not 1 because of generated files.
 */
const SEEN_SHARE_MIN = 0.9;

interface Report {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly { readonly resolved: string }[] }[];
  readonly summary: { readonly violations: readonly Violation[] };
}

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
  readonly cycle?: readonly { readonly name: string }[];
}

const FOLDERS = ["src", "test", "tools", "conformance", "bench", "clients", "workbench"];

/** Runs the rules on the project at `root`. */
export function cruise(root: string): Report {
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const program = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const config = join(ROOT, ".dependency-cruiser.cjs");
  const { stdout, stderr } = Bun.spawnSync(["node", program, "--config", config, "--output-type", "json", ...folders], { cwd: root });
  if (stdout.length === 0) throw new Error(`dependency-cruiser said nothing: ${stderr}`);
  return JSON.parse(stdout.toString()) as Report;
}

const featureOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1];

/**
 * Finds circles of features that import each other. Imports in tests do not count; dependency-cruiser's own rule about folders would count
 * them.
 */
export function featureCircles(modules: Report["modules"]): string[] {
  const imported = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = source.endsWith(".test.ts") ? undefined : featureOf(source);
    if (from === undefined) continue;
    const others = dependencies.map(({ resolved }) => featureOf(resolved)).filter((to) => to !== undefined && to !== from);
    imported.set(from, new Set([...(imported.get(from) ?? []), ...others]) as Set<string>);
  }
  const circles: string[] = [];
  const walk = (feature: string, path: readonly string[]): void => {
    if (path.includes(feature)) circles.push([...path.slice(path.indexOf(feature)), feature].join(" → "));
    else for (const next of imported.get(feature) ?? []) walk(next, [...path, feature]);
  };
  for (const feature of imported.keys()) walk(feature, []);
  return circles;
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
  const circles = featureCircles(modules);
  for (const circle of circles) console.error(`features import each other in a circle: ${circle}\n  let one of them use a port by its name instead`);
  const files = [...new Bun.Glob("src/**/*.ts").scanSync({ cwd: ROOT })];
  const seen = modules.filter(({ source }) => source.startsWith("src/") && source.endsWith(".ts"));
  const needed = Math.ceil(files.length * SEEN_SHARE_MIN);
  const edges = seen.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
  console.log(`${seen.length} of ${files.length} modules of src seen, ${edges} imports, ${forbidden.length} rules`);
  // If dependency-cruiser cannot parse the code, it finds no imports. If the code was parsed, a module has at least one import on average.
  const isBlind = seen.length < needed || edges < seen.length;
  if (isBlind) console.error(`the rules saw only ${seen.length} modules (${needed} are needed) and ${edges} imports, so their result means nothing`);
  process.exit(isBlind || summary.violations.length + circles.length > 0 ? 1 : 0);
}
