/** Reports the verdicts on mutants: as a table by folder, and as JSON with every mutant. */
import { RUNS, type Run, type Verdict } from "./judge.ts";
import { folderOf, type Mutant } from "./mutants.ts";

export interface Judged extends Verdict {
  readonly mutant: Mutant;
}

const COLUMNS = ["noticed", "timeout", "survived", "equivalent", "does not compile"] as const satisfies readonly Judged["outcome"][];

type Counts = Readonly<Record<(typeof COLUMNS)[number], number>>;

function countsOf(all: readonly Judged[]): Counts {
  const of = (outcome: Judged["outcome"]): number => all.filter((each) => each.outcome === outcome).length;
  return {
    noticed: of("noticed"),
    timeout: of("timeout"),
    survived: of("survived"),
    equivalent: of("equivalent"),
    "does not compile": of("does not compile"),
  };
}

/**
 * Returns the number of mutants that the tests of a run noticed, divided by the number of mutants that change the program's
 * behaviour and pass the type check.
 */
function shareOf(all: readonly Judged[], run: Run): number | undefined {
  const { noticed, timeout, survived } = countsOf(all);
  const those = noticed + timeout + survived;
  const later = RUNS.slice(RUNS.indexOf(run) + 1);
  const here = all.filter(({ run: by }) => by !== undefined && !later.includes(by));
  return those === 0 ? undefined : here.length / those;
}

const percent = (share: number | undefined): string => (share === undefined ? "" : `${(share * 100).toFixed(1)} %`);

export function table(all: readonly Judged[]): string {
  const folders = [...Map.groupBy(all, ({ mutant }) => folderOf(mutant.path))].sort(([a], [b]) => (a < b ? -1 : 1));
  const row = (name: string, of: readonly Judged[]): string => {
    const counts = countsOf(of);
    return `| ${[name, ...COLUMNS.map((column) => counts[column]), ...RUNS.map((run) => percent(shareOf(of, run)))].join(" | ")} |`;
  };
  const head = [`| ${["folder", ...COLUMNS, ...RUNS].join(" | ")} |`, `|---|${"---:|".repeat(COLUMNS.length + RUNS.length)}`];
  return [...head, ...folders.map(([folder, of]) => row(folder, of)), row("all", all)].join("\n");
}

/** Lists the survivors, and the mutants that `npm test` alone does not notice, grouped by kind. */
export function missed(all: readonly Judged[]): string {
  const late = Map.groupBy(
    all.filter(({ run }) => run === "test:all"),
    ({ mutant }) => mutant.kind,
  );
  const parts = [...late].map(([kind, of]) => ["", `only test:all notices, ${kind}:`, ...of.map(lineOf)]);
  return [...all.filter(({ outcome }) => outcome === "survived").map(lineOf), ...parts.flat()].join("\n");
}

export function json(all: readonly Judged[], seed: number): string {
  const folders = Map.groupBy(all, ({ mutant }) => folderOf(mutant.path));
  const counts = Object.fromEntries([...folders].map(([folder, of]) => [folder, countsOf(of)]));
  const mutants = all.map(({ mutant: { end: _, now: __, ...mutant }, ...rest }) => ({ ...mutant, ...rest }));
  const noticed = Object.fromEntries(RUNS.map((run) => [run, shareOf(all, run)]));
  return `${JSON.stringify({ seed, noticed, all: countsOf(all), folders: counts, mutants }, null, 2)}\n`;
}

/**
 * Reads the verdicts of an earlier report. If the line of a mutant has moved since the earlier report, the mutant has no
 * verdict.
 */
export function judgedBefore(report: string, mutants: readonly Mutant[]): Map<Mutant, Judged> {
  const key = ({ path, start, code, change }: Mutant): string => JSON.stringify([path, start, code, change]);
  const earlier: readonly (Mutant & Verdict)[] = JSON.parse(report).mutants;
  const entries = new Map(earlier.map((entry) => [key(entry), entry]));
  const found = new Map<Mutant, Judged>();
  for (const mutant of mutants) {
    const entry = entries.get(key(mutant));
    if (entry === undefined) continue;
    const { outcome, ran, by, run } = entry;
    found.set(mutant, { mutant, outcome, ran, ...(by === undefined ? {} : { by }), ...(run === undefined ? {} : { run }) });
  }
  return found;
}

export const lineOf = ({ mutant, outcome, by, ran }: Judged): string => {
  const where = `${mutant.path}:${mutant.line}`;
  const how = by === undefined ? (outcome === "survived" ? ` (${ran} files of tests)` : "") : ` (${by})`;
  return `${outcome}: ${where}: ${mutant.change}${how}`;
};
