/** Checks that cited decisions, clauses and paths exist, because a wrong citation is worse than a missing one. */
import { basename, dirname, join, normalize } from "node:path";
import { type Check, isDocument, matchesIn, type Problem, type RepositoryFile } from "./repository.ts";

const DECISIONS = "spec/decisions/";

/** Finds the decisions. Each decision has its own heading, `### D-nn Title`. */
function decisionsOf(files: readonly RepositoryFile[]): { id: string; path: string; line: number }[] {
  return files
    .filter(({ path }) => path.startsWith(DECISIONS))
    .flatMap(({ path, text }) => matchesIn(text, /^### (D-\d+)\b/g).map(({ match, line }) => ({ id: match[1] ?? "", path, line })));
}

export const decisions: Check = (files) => {
  const made = decisionsOf(files);
  const known = new Set(made.map(({ id }) => id));
  const twice = made.filter(({ id }, at) => made.findIndex((one) => one.id === id) !== at);
  const cited = files
    .filter(({ path }) => !path.startsWith("tools/tidy"))
    .flatMap(({ path, text }) => matchesIn(text, /\bD-\d{2,}\b/g).map(({ match, line }) => ({ id: match[0], path, line })));
  return [
    ...cited
      .filter(({ id }) => !known.has(id))
      .map(({ id, path, line }) => ({
        path,
        line,
        what: `cites ${id}, which no page of ${DECISIONS} defines`,
        fix: "cite the right one, or define it there",
      })),
    ...twice.map(({ id, path, line }) => ({ path, line, what: `${id} is defined a second time`, fix: "give it a number of its own" })),
  ];
};

const CODE_SPAN = /`([^`\n]+)`/g;
const FENCED = /^ *(?:<!-- file: .* -->\n *)?```\w+\n[\s\S]*?^ *```$/gm;
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
const PATH = /^[\w.@-]+(\/[\w.@*-]+)*\/?$/;
/** Matches a word without a slash whose ending shows that it is a file name. */
const FILE_ENDING = /\.(md|ts|tsx|mjs|cjs|ya?ml|json|sh)$/;

/** Checks each text in backticks and each link that looks like a path of the repository. */
export const paths: Check = (files) => {
  const held = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  const tops = new Set([...held].map((path) => path.split("/")[0] ?? ""));
  const parts = new Set([...held].filter((path) => /^src\/[^/]+$/.test(path)).map((path) => path.slice("src/".length)));
  const basenames = new Set(files.map(({ path }) => basename(path)));
  const exists = (path: string): boolean => (path.includes("*") ? globExists(path, held) : held.has(path) || basenames.has(path));
  return files.filter(isDocument).flatMap((file) => {
    const spans = matchesIn(file.text, CODE_SPAN).filter(({ match }) => isRepositoryPath(match[1] ?? "", tops, parts));
    const examples = [...file.text.matchAll(FENCED)].join("\n");
    const links = matchesIn(file.text, LINK).filter(({ match }) => !/^[a-z]+:/.test(match[1] ?? ""));
    return (
      [...spans, ...links]
        .map(({ match, line }) => ({ path: (match[1] ?? "").replace(/\/$/, ""), line }))
        // Tests run the examples of a page, so a file that an example names without a folder may be made by the example.
        .filter(({ path }) => path.includes("/") || !examples.includes(path))
        .filter(({ path }) => ![path, join("src", path), normalize(join(dirname(file.path), path))].some(exists))
        .map(({ path, line }): Problem => ({ path: file.path, line, what: `names ${path}, which does not exist`, fix: "name what exists" }))
    );
  });
};

const foldersOf = (path: string): string[] => {
  const segments = path.split("/");
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join("/"));
};

const globExists = (pattern: string, held: ReadonlySet<string>): boolean => {
  const glob = new Bun.Glob(pattern);
  return [...held].some((path) => glob.match(path));
};

/**
 * Matches paths that exist only after the program has run, or that the user makes. A document may name these paths although git does not have
 * them.
 */
const MADE_BY_RUNNING = /^(node_modules|\.plaza|coverage)(\/|$)|^plaza\.config\.yaml$|\.schema\.json$|\/generated\/?$/;

function isRepositoryPath(text: string, tops: ReadonlySet<string>, parts: ReadonlySet<string>): boolean {
  if (!PATH.test(text) || MADE_BY_RUNNING.test(text)) return false;
  const [first = ""] = text.split("/");
  // `x.store.ts` is a pattern for file names, in which x is the noun of a feature.
  if (first.startsWith("x.") || text.includes("/x.") || text.startsWith("*")) return false;
  if (text.includes("/")) return tops.has(first) || parts.has(first);
  return FILE_ENDING.test(text) && !/^[\w-]*\.(test|contract|handlers|store|migrations|world|changes|states|errors)\.ts$/.test(text);
}
