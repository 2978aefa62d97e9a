/** The report of a storm as text. */
import type { Failure } from "./failure.ts";
import type { StormReport } from "./storm.ts";

/** The line that runs a schedule again. */
export type AgainLine = (schedule: string) => string;

/** Groups failures that differ only in their point of the run; the first of a group has all its details. */
interface FailureGroup {
  readonly first: Failure;
  readonly others: readonly Failure[];
}

/** The part of a schedule without the numbers of its points: `createLabel#2=503` → `createLabel=503`. */
const kindOf = ({ schedule }: Failure): string => schedule.replaceAll(/#\d+/g, "");

function groupsOf(failures: readonly Failure[]): readonly FailureGroup[] {
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) groups.set(kindOf(failure), [...(groups.get(kindOf(failure)) ?? []), failure]);
  return [...groups.values()].map(([first, ...others]) => ({ first: first as Failure, others }));
}

export function reportText(report: StormReport, again: AgainLine): string {
  const { failures, unsteady, schedules, durationMs, seed } = report;
  const blocks = groupsOf(failures).map(({ first, others }) => failureText(first, again, others));
  for (const { schedule, problem } of unsteady)
    blocks.push(`${schedule} failed once and passed when it was run again, so it is not counted: ${problem}`);
  const seconds = (durationMs / 1_000).toFixed(1);
  const result = failures.length === 0 ? "all passed" : `${failures.length} failed`;
  return [...blocks, `${schedules} schedules in ${seconds} s with the seed ${seed}: ${result}`].join("\n\n");
}

export function failureText(failure: Failure, again: AgainLine, others: readonly Failure[] = []): string {
  const { schedule, faults, problem, did, right } = failure;
  const rows: [string, readonly string[]][] = [
    ["fault", faults],
    ["problem", problem.split("\n")],
    ["the app", did],
    ["a right one", right],
    ["run again", [again(schedule)]],
    ["also", others.length === 0 ? [] : [others.map((other) => other.schedule).join(", ")]],
  ];
  const lines = rows.flatMap(([name, texts]) => texts.map((text, at) => `  ${(at === 0 ? name : "").padEnd(12)} ${text}`));
  return [schedule, ...lines].join("\n");
}
