/**
 * Checks which clauses of the interface have an operation and a conformance case. A clause of a finished area must have both an operation and a case,
 * or a reason in `spec/uncovered.md`.
 */
import { parse } from "yaml";
import { isCode, isTest, matchesIn, type Problem, type RepositoryFile } from "./repository.ts";

interface Clause {
  readonly id: string;
  readonly area: string;
  readonly kind: string;
}

/** The kinds of clauses that responses of a server can prove. */
const SHOWABLE = new Set(["rule", "shape", "limit", "state"]);

/**
 * The areas that the pipeline serves for every operation. No single operation cites the clauses of these areas, so each of the clauses needs only a
 * conformance case.
 */
const OF_THE_PIPELINE = new Set(["authentication", "errors", "general", "pagination", "versioning"]);

const CLAUSES = "spec/clauses.yaml";
const UNCOVERED = "spec/uncovered.md";

export interface ClauseReport {
  readonly problems: readonly Problem[];
  readonly total: number;
  /** The number of clauses with an operation and a case. */
  readonly covered: number;
  readonly byArea: ReadonlyMap<string, { readonly total: number; readonly covered: number }>;
}

export function clauseReport(files: readonly RepositoryFile[], areasUnderWay: readonly string[]): ClauseReport {
  const clauses = parse(files.find(({ path }) => path === CLAUSES)?.text ?? "[]") as Clause[];
  const known = new Set(clauses.map(({ id }) => id));
  const ofThePipeline = clauses.filter(({ area }) => OF_THE_PIPELINE.has(area)).map(({ id }) => id);
  const served = new Set([...citedInProgram(files, known), ...ofThePipeline]);
  const shown = citedInCases(files);
  const excused = reasonsIn(files.find(({ path }) => path === UNCOVERED));

  const showable = clauses.filter(({ kind }) => SHOWABLE.has(kind));
  const isCovered = ({ id }: Clause): boolean => served.has(id) && shown.has(id);
  const areas = Map.groupBy(showable, ({ area }) => area);
  return {
    problems: [
      ...lacking(showable, { served, shown, excused, areasUnderWay }),
      ...excused.filter(({ id }) => !known.has(id)).map(({ id, line }) => row(line, `${id} is no clause`)),
      ...excused.filter(({ id }) => served.has(id) && shown.has(id)).map(({ id, line }) => row(line, `${id} has an operation and a case`)),
      ...areasUnderWay.filter((area) => !areas.has(area)).map((area) => exception(`there is no area ${area}`)),
    ],
    total: showable.length,
    covered: showable.filter(isCovered).length,
    byArea: new Map([...areas].map(([area, held]) => [area, { total: held.length, covered: held.filter(isCovered).length }])),
  };
}

const row = (line: number, what: string): Problem => ({ path: UNCOVERED, line, what, fix: "delete the row" });
const exception = (what: string): Problem => ({ path: "tools/tidy-exceptions.json", line: 1, what, fix: "delete it from areasUnderWay" });

interface Evidence {
  readonly served: ReadonlySet<string>;
  readonly shown: ReadonlySet<string>;
  readonly excused: readonly { readonly id: string }[];
  readonly areasUnderWay: readonly string[];
}

function lacking(showable: readonly Clause[], { served, shown, excused, areasUnderWay }: Evidence): Problem[] {
  const due = showable.filter(({ id, area }) => !areasUnderWay.includes(area) && !excused.some((one) => one.id === id));
  const lack = (id: string, what: string, fix: string): Problem => ({ path: CLAUSES, line: 1, what: `${id} has no ${what}`, fix });
  return due.flatMap(({ id }) => [
    ...(served.has(id)
      ? []
      : [lack(id, "operation", `name the clause in a contract, cite it in the code that keeps it, or give the reason in ${UNCOVERED}`)]),
    ...(shown.has(id) ? [] : [lack(id, "conformance case", `cite it in a case of conformance/cases, or give the reason in ${UNCOVERED}`)]),
  ]);
}

/**
 * Finds the clauses that the program cites, as `ERR-1` or `ERR-2 to ERR-10`. Contracts cite the clauses that their operations serve, and comments
 * cite the clauses that the code follows.
 */
function citedInProgram(files: readonly RepositoryFile[], known: ReadonlySet<string>): Set<string> {
  const program = files.filter((file) => file.path.startsWith("src/") && isCode(file) && !isTest(file));
  const words = program.flatMap(({ text }) => [
    ...(text.match(/\b[A-Z]+\d?-\d+[a-z]?\b/g) ?? []),
    ...[...text.matchAll(/\b([A-Z]+\d?)-(\d+) to \1-(\d+)\b/g)].flatMap(([, area = "", from, to]) => span(area, Number(from), Number(to))),
  ]);
  return new Set(words.filter((word) => known.has(word)));
}

const span = (area: string, from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => `${area}-${from + at}`);

function citedInCases(files: readonly RepositoryFile[]): Set<string> {
  const cases = files.filter(({ path }) => path.startsWith("conformance/cases/") && path.endsWith(".yaml"));
  const held = cases.flatMap(({ text }) => (parse(text, { merge: true }) as { cases?: { clauses?: string | string[] }[] } | null)?.cases ?? []);
  return new Set(held.flatMap(({ clauses }) => clauses ?? []));
}

/** Reads the clauses for which the page gives a reason why they lack an operation or a case, from rows `| clause | reason |`. */
function reasonsIn(page: RepositoryFile | undefined): { id: string; line: number }[] {
  return matchesIn(page?.text ?? "", /^\|\s*([A-Z]+\d?-\d+[a-z]?)\s*\|\s*\S.*\|\s*$/g).map(({ match, line }) => ({ id: match[1] ?? "", line }));
}
