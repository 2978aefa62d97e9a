/** `npm run tidy`: checks the rules for files that the formatter, lint, types and dependency rules cannot check. */
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { assertions } from "./tidy/assertions.ts";
import { decisions, paths } from "./tidy/citations.ts";
import { clauseReport } from "./tidy/clauses.ts";
import { errorPage } from "./tidy/error-page.ts";
import { markers, switchedOffTests, tracesOfMachines } from "./tidy/leftovers.ts";
import { names, standardFiles } from "./tidy/names.ts";
import { outcomes } from "./tidy/outcomes.ts";
import { importsByName, placesOfThings } from "./tidy/places.ts";
import { prose } from "./tidy/prose.ts";
import { type Check, type Problem, problemText, type RepositoryFile, readRepository } from "./tidy/repository.ts";
import { sizes } from "./tidy/sizes.ts";
import exceptions from "./tidy-exceptions.json";

const checks: readonly Check[] = [
  sizes(exceptions),
  names,
  standardFiles,
  placesOfThings,
  importsByName,
  outcomes,
  markers,
  switchedOffTests,
  assertions,
  tracesOfMachines,
  decisions,
  paths,
  prose,
  errorPage([...new Registry(features).errors.keys()]),
];

export interface TidyReport {
  readonly problems: readonly Problem[];
  /** A line with the number of checked files and the coverage of the interface. */
  readonly summary: string;
}

export function tidy(files: readonly RepositoryFile[]): TidyReport {
  const clauses = clauseReport(files, exceptions.areasUnderWay);
  const areas = [...clauses.byArea].filter(([, { covered }]) => covered > 0).map(([area, { covered, total }]) => `  ${area}: ${covered} of ${total}`);
  const coverage = [`clauses: ${clauses.covered} of ${clauses.total} have an operation and a case`, ...areas];
  return {
    problems: [...checks.flatMap((check) => check(files)), ...clauses.problems],
    summary: [`${files.length} files, ${checks.length} checks`, ...coverage].join("\n"),
  };
}

if (import.meta.main) {
  const report = tidy(readRepository(new URL("..", import.meta.url).pathname));
  for (const problem of report.problems) console.error(problemText(problem));
  console.log(report.summary);
  console.log(report.problems.length === 0 ? "tidy" : `${report.problems.length} problems`);
  process.exit(report.problems.length === 0 ? 0 : 1);
}
