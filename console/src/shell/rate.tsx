import { requestRate, useTail } from "../api/tail.ts";
import { useNowMs } from "./clock.tsx";

export function Rate() {
  const { isLive } = useTail();
  const rate = requestRate(useNowMs());
  return (
    <span className="rate">
      <span className={isLive ? "live" : "warn"}>{isLive ? "● live" : "○ not connected"}</span> {rate < 10 ? rate.toFixed(1) : Math.round(rate)} req/s
    </span>
  );
}
