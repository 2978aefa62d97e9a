/** Chooses the tests of a run, and the databases for each test. */
import { isQuick, type TestFile } from "./files.ts";

/**
 * The choice of tests: `quick` has the tests of `npm test`, `all` has the tests of `npm run test:all`, and `rest` has the tests of `all` that are
 * not in `quick`.
 */
export type Extent = "quick" | "rest" | "all";

/** The tests for one start of Bun's test runner. */
export interface Run {
  readonly name: string;
  readonly files: readonly TestFile[];
  /** The databases for the tests that can run on each database. */
  readonly databases: readonly string[];
  /** A text that the names of the tests must contain. */
  readonly only?: string;
}

/**
 * The test files that `npm test` also runs on PostgreSQL, because their results depend on the database: stores, the storage suite, jobs, deliveries,
 * and the test file with the feature's name in each feature. All other test files run only on SQLite in `npm test`.
 */
const DATABASE_DECIDES =
  /\.store\.test\.ts$|^test\/storage-suite\/|^src\/(?:storage|jobs)\/|^src\/webhooks\/delivery\/|^src\/features\/([^/]+)\/\1\.test\.ts$/;

const isOnBoth = ({ path }: TestFile): boolean => DATABASE_DECIDES.test(path);

export const BOTH: readonly string[] = ["sqlite", "postgres"];

/** Returns the databases on which `npm test` runs the tests of a file; empty if only `npm run test:all` runs the file. */
export const quickDatabases = (file: TestFile): readonly string[] => (isQuick(file) ? (isOnBoth(file) ? BOTH : ["sqlite"]) : []);

/** Matches test files that count something in the whole process. Each file with this ending runs in a process of its own. */
const ALONE = /\.alone\.test\.ts$/;

export function runsOf(extent: Extent, files: readonly TestFile[]): Run[] {
  const alone = files.filter(({ path }) => ALONE.test(path));
  const quick = files.filter((file) => isQuick(file) && !alone.includes(file));
  const onBoth = quick.filter(isOnBoth);
  const others = quick.filter((file) => !isOnBoth(file));
  const left = files.filter((file) => !isQuick(file));
  const aloneOn = (database: string): Run[] => alone.map((file) => ({ name: `alone on ${database}`, files: [file], databases: [database] }));
  const runs: Record<Exclude<Extent, "all">, Run[]> = {
    quick: [
      { name: "on SQLite", files: others, databases: ["sqlite"] },
      { name: "on both databases", files: onBoth, databases: BOTH },
      ...aloneOn("sqlite"),
    ],
    rest: [
      { name: "on PostgreSQL", files: others.filter((file) => file.isOnEachDatabase), databases: ["postgres"], only: "\\(postgres\\)" },
      { name: "tests that need programs from outside or take long", files: left, databases: BOTH },
      ...aloneOn("postgres"),
    ],
  };
  const chosen = extent === "all" ? [...runs.quick, ...runs.rest] : runs[extent];
  return chosen.filter((run) => run.files.length > 0);
}
