import { rates, useTail } from "../api/tail.ts";
import { rateText } from "../parts/texts.tsx";
import { useNowMs } from "./clock.tsx";

const TEXTS = { live: "● live", waiting: "○ paused: other windows are live", lost: "○ not connected", gone: "○ not connected" } as const;

export function Rate() {
  const { state } = useTail();
  const rate = rates.perSecond(useNowMs());
  return (
    <span className="rate">
      <span className={state === "live" ? "live" : "warn"}>{TEXTS[state]}</span> <span className="figure">{rateText(rate)}</span>
    </span>
  );
}
