import { requestRate, useTail } from "../api/tail.ts";
import { useNowMs } from "./clock.tsx";

const TEXTS = { live: "● live", waiting: "○ waits: other windows are live", lost: "○ not connected" } as const;

export function Rate() {
  const { state } = useTail();
  const rate = requestRate(useNowMs());
  return (
    <span className="rate">
      <span className={state === "live" ? "live" : "warn"}>{TEXTS[state]}</span> {rate < 10 ? rate.toFixed(1) : Math.round(rate)} req/s
    </span>
  );
}
