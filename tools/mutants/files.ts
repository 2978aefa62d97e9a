/** Finds the files of the project, the changed files, and the tests that import a file. */
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** Lists the files that are committed, or that `git add` would add. */
export const filesOf = (root: string): string[] => [
  ...new Set(git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0").filter(Boolean).sort()),
];

function git(root: string, ...args: string[]): string {
  const run = Bun.spawnSync(["git", ...args], { cwd: root });
  if (!run.success) throw new Error(`git ${args.join(" ")}: ${run.stderr.toString().trim()}`);
  return run.stdout.toString();
}

const isTest = (path: string): boolean => path.endsWith(".test.ts");

/** Whether a file has mutants. Released migrations never change, and files with only declarations do nothing, so neither has mutants. */
export const isMutable = (path: string): boolean => /\.ts$/.test(path) && !/\.(test|proof|migrations|d)\.ts$/.test(path);

export type Lines = (line: number) => boolean;

/** Returns the lines that are new since the branch left `base`, by the path of the file. If git does not know the file, all its lines are new. */
export function changedLines(root: string, base = mainBranch(root)): Map<string, Lines> {
  const since = git(root, "merge-base", "HEAD", base).trim();
  const changed = new Map<string, Lines>();
  for (const file of git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", since).split(
    /^diff --git /m,
  )) {
    const path = /^\+\+\+ b\/(.+)$/m.exec(file)?.[1];
    if (path === undefined) continue;
    const ranges = [...file.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].map(([, from, count]) => ({
      from: Number(from),
      count: Number(count ?? 1),
    }));
    changed.set(path, (line) => ranges.some(({ from, count }) => line >= from && line < from + count));
  }
  for (const path of git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0").filter(Boolean)) changed.set(path, () => true);
  return changed;
}

function mainBranch(root: string): string {
  const known = ["origin/main", "main"].find((name) => Bun.spawnSync(["git", "rev-parse", "--verify", "--quiet", name], { cwd: root }).success);
  if (known === undefined) throw new Error("there is no branch main or origin/main; name the commit to compare with: --since REF");
  return known;
}

/** The distance of a test that does not import the file. The number is greater than the distance of any test that imports the file. */
const NO_IMPORT = 1_000;
/** The distance of a test that starts the program and runs a command by its name. */
const BY_NAME = 3;
/**
 * The distance of a test that imports the file directly or has its name. A test with this distance is about the file, even if the test is in another
 * folder. No other distance can be lower, because no path has that number of folders.
 */
const OWN_IMPORT = -100;

/** Finds the files that import a file directly or through others. */
export class Importers {
  readonly #importers = new Map<string, Set<string>>();
  readonly #tests: readonly string[];
  readonly #read: (path: string) => string;

  constructor(root: string, paths: readonly string[]) {
    const code = paths.filter((path) => /\.(ts|mjs)$/.test(path));
    this.#tests = code.filter(isTest);
    this.#read = (path) => readFileSync(join(root, path), "utf8");
    const scanner = new Bun.Transpiler({ loader: "ts" });
    for (const path of code) {
      for (const { path: name } of scanner.scanImports(this.#read(path).replace(/^#!.*/, ""))) {
        const imported = resolved(root, path, name);
        if (imported !== undefined) this.#importers.set(imported, (this.#importers.get(imported) ?? new Set()).add(path));
      }
    }
  }

  /**
   * Lists all tests. The tests that most probably notice a mistake in the file come first: tests in the same folder, and tests that import the file
   * through few other files. A test that does not import the file is in the list too, because it may start a program that imports the file.
   */
  testsOf(path: string): string[] {
    const distances = this.#distances(path);
    // Each common folder makes the distance between test and file shorter by two.
    const nearness = new Map(
      this.#tests.map((test) => {
        const distance = distances.get(test) ?? (this.#isByName(test, path) ? BY_NAME : NO_IMPORT);
        const isOwn = distance === 1 || asSource(test) === path.replace(/\.ts$/, ".test.ts");
        return [test, (isOwn ? OWN_IMPORT : distance) - 2 * sharedFolders(asSource(test), path)];
      }),
    );
    return [...this.#tests].sort((a, b) => (nearness.get(a) ?? 0) - (nearness.get(b) ?? 0) || (a < b ? -1 : 1));
  }

  /**
   * Whether a test is about the command of the file: `test/cli/server-commands.test.ts` contains `doctor`, the command of `src/cli/server/doctor.ts`.
   */
  #isByName(test: string, path: string): boolean {
    const name = basename(path, ".ts");
    const isNear = sharedFolders(asSource(test), path) > 1 || basename(test).startsWith(name);
    return isNear && new RegExp(`\\b${RegExp.escape(name)}\\b`).test(this.#read(test));
  }

  #distances(path: string): Map<string, number> {
    const distances = new Map([[path, 0]]);
    for (const [at, distance] of distances) {
      for (const importer of this.#importers.get(at) ?? []) if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
    return distances;
  }
}

function resolved(root: string, from: string, name: string): string | undefined {
  try {
    return relative(root, Bun.resolveSync(name, join(root, dirname(from))));
  } catch {
    // The import is a package that is not installed, or belongs to the code of a web page.
    return undefined;
  }
}

/**
 * Returns the path below `src` that a test is about. Tests that start programs are below `test`, in a folder with the name of the tested part of
 * `src`.
 */
const asSource = (test: string): string => test.replace(/^test\//, "src/").replace("-suite/", "/");

function sharedFolders(a: string, b: string): number {
  const [first, second] = [dirname(a).split("/"), dirname(b).split("/")];
  const differs = first.findIndex((folder, at) => folder !== second[at]);
  return differs === -1 ? first.length : differs;
}
