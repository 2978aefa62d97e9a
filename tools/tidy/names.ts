/** Checks the names of files: a name must be meaningful, and a feature has the standard files that a reader expects (ARCHITECTURE.md: A feature). */
import { basename, dirname } from "node:path";
import { type Check, isCode, type Problem, type RepositoryFile } from "./repository.ts";

/** Matches names that do not say what a file contains. */
const EMPTY_NAMES =
  /^(util|utils|utilities|helper|helpers|common|commons|shared|misc|manager|managers|service|services|context|contexts|base|bases|type|types)$/;

const FIRST_LINE = 1;

export const names: Check = (files) =>
  files.filter(isCode).flatMap(({ path }) => {
    const segments = path.split("/");
    const words = segments.flatMap((segment) => segment.replace(/\.(ts|tsx|mjs|cjs)$/, "").split("."));
    const empty = words.find((word) => EMPTY_NAMES.test(word));
    const problems: Problem[] = [];
    const problem = (what: string, fix: string) => problems.push({ path, line: FIRST_LINE, what, fix });
    if (empty !== undefined) problem(`the name "${empty}" says nothing about what is inside`, "give the file or folder the name of its content");
    if (segments.some((segment) => /[A-Z_]/.test(segment))) problem("file names are lower case, words joined by -", "rename it");
    return problems;
  });

const FEATURES = "src/features/";

/** The standard files of a feature, by name (ARCHITECTURE.md: A feature). */
const STANDARD_FILES = [
  "contract",
  "handlers",
  "store",
  "migrations",
  "changes",
  "states",
  "world",
  "webhooks",
  "control",
  "errors",
  "policies",
  "ports",
  "api",
  "limits",
  "test",
];

/** Whether a file has a standard name, or begins with its feature's name, as `microblog-insights.metrics.ts`. In subfolders any name is allowed. */
const isStandardFile = (path: string): boolean => {
  const [name = "", feature = ""] = path.split("/").reverse();
  return (
    path.slice(FEATURES.length).split("/").length > 2 ||
    name === "index.ts" ||
    STANDARD_FILES.some((piece) => name.endsWith(`.${piece}.ts`)) ||
    name.startsWith(`${feature}.`)
  );
};

export const standardFiles: Check = (files) => {
  const inFeatures = files.filter(({ path }) => path.startsWith(FEATURES) && path.slice(FEATURES.length).includes("/"));
  const features = Map.groupBy(inFeatures, ({ path }) => path.slice(FEATURES.length).split("/")[0] ?? "");
  return [...features].flatMap(([feature, held]) => [...missing(feature, held), ...strange(held)]);
};

function missing(feature: string, held: readonly RepositoryFile[]): Problem[] {
  const has = (end: string): boolean => held.some(({ path }) => path.endsWith(end));
  const lacks = (what: string, fix: string): Problem => ({
    path: `${FEATURES}${feature}`,
    line: FIRST_LINE,
    what: `the feature has no ${what}`,
    fix,
  });
  const problems: Problem[] = [];
  if (!has("/index.ts")) problems.push(lacks("index.ts", "it is the feature's public API: export its Feature there"));
  if (!has("/README.md")) problems.push(lacks("README.md", "say in a few lines which clauses it serves and what it stores"));
  if (!has(".test.ts")) problems.push(lacks("test", `add ${feature}.test.ts; titles say clause and behaviour`));
  if (has(".handlers.ts") && !has(".contract.ts")) problems.push(lacks("contract", "declare operations as data beside their handlers"));
  return problems;
}

function strange(held: readonly RepositoryFile[]): Problem[] {
  return held
    .filter((file) => isCode(file) && !isStandardFile(file.path))
    .map(({ path }) => ({
      path,
      line: FIRST_LINE,
      what: `a feature holds index.ts and files called x.${STANDARD_FILES.slice(0, 3).join(".ts, x.")}.ts and so on`,
      fix: `give it one of the endings ${STANDARD_FILES.join(", ")}, or call it after the feature: ${basename(dirname(path))}.x.ts`,
    }));
}
