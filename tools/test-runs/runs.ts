/** Chooses the tests of a run, and the databases on which they run. */
import { isQuick, type TestFile } from "./files.ts";

/** `quick` is `npm test`, `all` is `npm run test:all`, and `rest` is the difference: the tests of `all` that `quick` does not have. */
export type Extent = "quick" | "rest" | "all";

/** The tests of one start of Bun's test runner. */
export interface Run {
  readonly name: string;
  readonly files: readonly TestFile[];
  /** The databases for tests that are declared for each database. */
  readonly databases: readonly string[];
  /** Runs only the tests whose name contains this text. */
  readonly only?: string;
}

/**
 * The test files that `npm test` also runs on PostgreSQL, because their results depend on the database: stores, the storage suite, jobs, deliveries,
 * and the file of each feature that has the feature's name. The tests of all other files run on SQLite only.
 */
const DATABASE_DECIDES =
  /\.store\.test\.ts$|^test\/storage-suite\/|^src\/(?:storage|jobs)\/|^src\/webhooks\/delivery\/|^src\/features\/([^/]+)\/\1\.test\.ts$/;

const isOnBoth = ({ path }: TestFile): boolean => DATABASE_DECIDES.test(path);

export const BOTH: readonly string[] = ["sqlite", "postgres"];

/** The databases on which `npm test` runs the tests of a file; empty if only `npm run test:all` runs them. */
export const quickDatabases = (file: TestFile): readonly string[] => (isQuick(file) ? (isOnBoth(file) ? BOTH : ["sqlite"]) : []);

/** The ending of test files that count everything in their process, so they have a process of their own. */
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
