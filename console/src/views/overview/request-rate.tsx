import { useMemo } from "react";
import { rates, type Tail } from "../../api/tail.ts";
import { Chart } from "../../parts/lazy.tsx";
import { countOf, rateText } from "../../parts/texts.tsx";
import { useNowMs } from "../../shell/clock.tsx";
import { Panel } from "./panel.tsx";

const A_STEP_MS = 5_000;

const shareOf = (part: number, whole: number): string => (part === 0 ? "none" : `${((100 * part) / whole).toFixed(part * 20 < whole ? 1 : 0)} %`);

/** The panel with the rate of requests, and the part of them that was refused or failed. */
export function RequestRate({ tail }: { readonly tail: Tail }) {
  const nowMs = useNowMs();
  const step = Math.floor(nowMs / A_STEP_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: made anew with each step, and once the log is read.
  const { times, all, refused, failed, sums } = useMemo(() => rates.history(Date.now()), [step, tail.isLoaded, tail.state]);
  const series = useMemo(
    () => [
      { label: "all", colour: "--accent", values: all },
      { label: "refused", colour: "--warn", values: refused },
      { label: "failed", colour: "--bad", values: failed },
    ],
    [all, refused, failed],
  );
  const said =
    sums.seen === 0
      ? "No request in the last ten minutes."
      : `${countOf(sums.seen, "request")} in the last ten minutes; refused ${shareOf(sums.refused, sums.seen)}, failed ${shareOf(sums.failed, sums.seen)}.`;
  return (
    <Panel title="Rate">
      <p>
        {rateText(rates.perSecond(nowMs))} now. {said}
      </p>
      <Chart label={`Requests a second in the last ten minutes. ${said}`} times={times} series={series} unit="/s" isAgo />
    </Panel>
  );
}
