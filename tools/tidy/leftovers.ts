/** Finds leftovers: a marker without an issue, a test that is switched off, a path of the author's machine. */
import ts from "typescript";
import { type Check, eachNode, isCode, isDocument, lineOf, matchesIn, type Problem } from "./repository.ts";

/** Matches markers other than `NOTE:` and `TODO(#12):`, because nobody looks for other markers. */
const MARKER = /\b(TODO|FIXME|HACK)\b(?!\(#\d+\))/g;

export const markers: Check = (files) =>
  files
    .filter((file) => !isDocument(file) && !file.path.startsWith("tools/tidy") && /\.(ts|tsx|mjs|cjs|sh|ya?ml|css|html)$/.test(file.path))
    .flatMap(({ path, text }) =>
      matchesIn(text, MARKER).map(({ match, line }) => ({ path, line, what: `${match[1]} without an issue`, fix: "write TODO(#n): … or do it" })),
    );

const SWITCHES = new Set(["only", "skip", "todo", "failing", "skipIf", "todoIf"]);

export const switchedOffTests: Check = (files) =>
  files
    .filter((file) => isCode(file) && (file.path.startsWith("test/") || file.path.endsWith(".test.ts")))
    .flatMap((file) => {
      const problems: Problem[] = [];
      eachNode(file, (node) => {
        if (!ts.isPropertyAccessExpression(node) || !SWITCHES.has(node.name.text) || !/^(test|it|describe)\b/.test(node.expression.getText())) return;
        const what = `${node.getText()}: a test that does not run looks like one that passes`;
        problems.push({ path: file.path, line: lineOf(file, node), what, fix: "let it run, or delete it" });
      });
      return problems;
    });

/** Matches folders in which people and build machines keep their checkouts, on each system. A path after the host of a URL does not match. */
const HOME = /(?:(?<![\w.~:/-])|(?<=file:\/\/))\/(?:home|root|Users|work|workspaces?|builds|private|mnt)\/[\w.-]+/g;
const WINDOWS_HOME = /\b[A-Z]:[\\/]+(?:Users|work|workspaces?|builds)[\\/]+[\w.-]+/gi;
const REGISTRY = /\b(?:registry|npm|yarn|pypi|artifactory|nexus|verdaccio|jfrog)[\w-]*(?:\.[\w-]+)*\.(?:org|com|net|dev|io|example)\b/gi;
const FETCHED = /"resolved": *"[a-z+]*:[^"]*"/g;

const TRACES: readonly (readonly [RegExp, string])[] = [
  [HOME, "a path of somebody's machine"],
  [WINDOWS_HOME, "a path of somebody's machine"],
  [REGISTRY, "the host of a package registry"],
  [FETCHED, "the address from which a package was fetched"],
];

export const tracesOfMachines: Check = (files) =>
  files
    .filter(({ path }) => !path.startsWith("tools/tidy"))
    .flatMap(({ path, text }) =>
      TRACES.flatMap(([pattern, what]) =>
        matchesIn(text, pattern).map(({ match, line }) => ({
          path,
          line,
          what: `names ${what}: ${match[0]}`,
          fix: "name nothing outside of the project",
        })),
      ),
    );
