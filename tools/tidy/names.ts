/** Names that say nothing are refused, and a room has the furniture that a reader expects (ARCHITECTURE.md: The house). */
import { basename, dirname } from "node:path";
import { type Check, isCode, type Problem, type RepositoryFile } from "./repository.ts";

/** What they hold is known only to who opened them. */
const EMPTY_NAMES =
  /^(util|utils|utilities|helper|helpers|common|commons|shared|misc|manager|managers|service|services|context|contexts|base|bases|type|types)$/;

const FIRST_LINE = 1;

export const names: Check = (files) =>
  files.filter(isCode).flatMap(({ path }) => {
    const segments = path.split("/");
    const words = segments.flatMap((segment) => segment.replace(/\.(ts|tsx|mjs|cjs)$/, "").split("."));
    const empty = words.find((word) => EMPTY_NAMES.test(word));
    const problems: Problem[] = [];
    const problem = (what: string, mend: string) => problems.push({ path, line: FIRST_LINE, what, mend });
    if (empty !== undefined) problem(`the name "${empty}" says nothing about what is inside`, "name it after what it holds");
    if (segments.some((segment) => /[A-Z_]/.test(segment))) problem("file names are lower case, words joined by -", "rename it");
    return problems;
  });

const ROOMS = "src/features/";

/** What may stand in a room, and how it is called in each (ARCHITECTURE.md: A room's furniture). */
const FURNITURE = ["contract", "handlers", "store", "migrations", "changes", "states", "world", "webhooks", "errors", "reader", "limits", "test"];

/** Also what only this room has, called after it: `microblog-insights.metrics.ts`. */
const isFurniture = (path: string): boolean => {
  const [name = "", feature = ""] = path.split("/").reverse();
  return name === "index.ts" || FURNITURE.some((piece) => name.endsWith(`.${piece}.ts`)) || name.startsWith(`${feature}.`);
};

export const featureFurniture: Check = (files) => {
  const inFeatures = files.filter(({ path }) => path.startsWith(ROOMS) && path.slice(ROOMS.length).includes("/"));
  const features = Map.groupBy(inFeatures, ({ path }) => path.slice(ROOMS.length).split("/")[0] ?? "");
  return [...features].flatMap(([feature, held]) => [...missing(feature, held), ...strange(held)]);
};

function missing(feature: string, held: readonly RepositoryFile[]): Problem[] {
  const has = (end: string): boolean => held.some(({ path }) => path.endsWith(end));
  const lacks = (what: string, mend: string): Problem => ({ path: `${ROOMS}${feature}`, line: FIRST_LINE, what: `the room has no ${what}`, mend });
  const problems: Problem[] = [];
  if (!has("/index.ts")) problems.push(lacks("index.ts", "it is the room's door: export its Room there"));
  if (!has("/README.md")) problems.push(lacks("README.md", "say in a few lines which clauses it serves and what it stores"));
  if (!has(".test.ts")) problems.push(lacks("test", `add ${feature}.test.ts; titles say clause and behaviour`));
  if (has(".handlers.ts") && !has(".contract.ts")) problems.push(lacks("contract", "operations are declared as data beside their handlers"));
  return problems;
}

function strange(held: readonly RepositoryFile[]): Problem[] {
  return held
    .filter((file) => isCode(file) && !isFurniture(file.path))
    .map(({ path }) => ({
      path,
      line: FIRST_LINE,
      what: `a room holds index.ts and files called x.${FURNITURE.slice(0, 3).join(".ts, x.")}.ts and so on`,
      mend: `give it one of the endings ${FURNITURE.join(", ")}, or call it after the room: ${basename(dirname(path))}.x.ts`,
    }));
}
