/** Writes the report of a storm as JUnit XML, with a test for each schedule. */
import { escaped } from "#conformance/report/junit";
import { type AgainLine, failureText } from "#testing/storm/report";
import type { StormReport } from "#testing/storm/storm";

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

export function stormJunit({ runs, failures, durationMs }: StormReport, again: AgainLine): string {
  const counts = `tests="${runs.length}" failures="${failures.length}" time="${seconds(durationMs)}"`;
  const bySchedule = new Map(failures.map((failure) => [failure.schedule, failure]));
  const tests = runs.map(({ schedule, durationMs: ofRun }) => {
    const failure = bySchedule.get(schedule);
    const head = `    <testcase classname="storm" name="${escaped(schedule)}" time="${seconds(ofRun)}"`;
    if (failure === undefined) return `${head}/>`;
    return `${head}>\n      <failure message="${escaped(failure.problem)}">${escaped(failureText(failure, again))}</failure>\n    </testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="storm" ${counts}>
  <testsuite name="storm" ${counts}>
${tests.join("\n")}
  </testsuite>
</testsuites>
`;
}
