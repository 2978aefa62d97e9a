/** Finds the test files, and reads from their text and imports what they need. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "../steps.ts";
import { isProgram, type ProgramName } from "./programs.ts";

export interface TestFile {
  /** The path of the file, from the root of the project. */
  readonly path: string;
  readonly programs: readonly ProgramName[];
  readonly isSlow: boolean;
  /** Whether the file declares tests for each database (`onEachDatabase`). */
  readonly isOnEachDatabase: boolean;
  /** Whether the test file starts a PostgreSQL server. */
  readonly usesPostgres: boolean;
}

const FOLDERS = ["src", "tools", "clients", "workbench", "conformance", "test"];

const NEEDS = /^needs\(([^)]*)\);$/gm;

/**
 * The ending of slow test files. A test file is called slow if it takes long, or if it repeats the tests of other files with more of the program
 * running.
 */
const SLOW = ".slow.test.ts";

const scanner = new Bun.Transpiler({ loader: "ts" });

class Sources {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  readonly #imports = new Map<string, readonly string[]>();
  readonly #aliases: readonly (readonly [string, string])[];

  constructor(root: string) {
    this.#root = root;
    const { imports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { imports?: Record<string, string> };
    this.#aliases = Object.entries(imports);
  }

  text(path: string): string {
    const known = this.#texts.get(path) ?? readFileSync(join(this.#root, path), "utf8");
    this.#texts.set(path, known);
    return known;
  }

  /**
   * Finds the files that a file imports, directly or through others. Imports by files of `src` are not followed, because no file of the server starts
   * a program for tests.
   */
  reachable(path: string): Set<string> {
    const found = new Set([path]);
    for (const each of found) for (const imported of this.#importsOf(each)) if (!imported.startsWith("src/")) found.add(imported);
    return found;
  }

  #importsOf(path: string): readonly string[] {
    const known = this.#imports.get(path);
    if (known !== undefined) return known;
    const names = path.endsWith(".ts") ? scanner.scanImports(this.text(path)).map((one) => one.path) : [];
    const paths = names.map((name) => this.#resolved(path, name)).filter((one) => one !== undefined);
    this.#imports.set(path, paths);
    return paths;
  }

  #resolved(path: string, name: string): string | undefined {
    const target = name.startsWith(".") ? relative(this.#root, join(this.#root, dirname(path), name)) : this.#aliased(name);
    return target !== undefined && existsSync(join(this.#root, target)) ? target : undefined;
  }

  #aliased(name: string): string | undefined {
    for (const [alias, target] of this.#aliases) {
      const [start = "", end = ""] = alias.split("*");
      if (alias === name) return target.replace("./", "");
      if (alias.includes("*") && name.startsWith(start) && name.endsWith(end))
        return target.replace("./", "").replaceAll("*", name.slice(start.length, name.length - end.length));
    }
    return undefined;
  }
}

export function testFiles(root = ROOT): TestFile[] {
  const sources = new Sources(root);
  const glob = new Bun.Glob(`{${FOLDERS.join(",")}}/**/*.test.ts`);
  return [...glob.scanSync({ cwd: root })]
    .filter((path) => !path.includes("node_modules/"))
    .sort()
    .map((path) => described(sources, path));
}

function described(sources: Sources, path: string): TestFile {
  const reached = [...sources.reachable(path)];
  const needed = reached.flatMap((each) => [...sources.text(each).matchAll(NEEDS)].flatMap(([, names = ""]) => names.match(/[\w-]+/g) ?? []));
  const unknown = needed.find((name) => !isProgram(name));
  if (unknown !== undefined) throw new Error(`${path} needs "${unknown}", which tools/test-runs/programs.ts does not name`);
  const isOnEachDatabase = /\b(?:onEachDatabase|testOnPostgres|describeDrivers)\(|\bdatabaseKinds\b/.test(sources.text(path));
  const startsCluster = reached.some(
    (each) => !each.startsWith("test/harness/") && /\b(?:sharedPostgres|startPostgresCluster)\(/.test(sources.text(each)),
  );
  return {
    path,
    programs: [...new Set(needed.filter(isProgram))].sort(),
    isSlow: path.endsWith(SLOW),
    isOnEachDatabase,
    usesPostgres: isOnEachDatabase || startsCluster,
  };
}

/** Whether `npm test` runs a file. If the result is false, only `npm run test:all` runs the file. */
export const isQuick = ({ programs, isSlow }: TestFile): boolean => programs.length === 0 && !isSlow;
