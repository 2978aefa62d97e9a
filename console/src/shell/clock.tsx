import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { clockQuery } from "../api/queries.ts";
import { freeze } from "./clock-actions.ts";
import { useWorld } from "./world.ts";

const A_SECOND_MS = 1_000;

/** The time of this machine in milliseconds. Renders the component once a second while `isOn` is set. */
export function useNowMs(isOn = true): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNowMs(Date.now()), A_SECOND_MS);
    return () => clearInterval(timer);
  }, [isOn]);
  return nowMs;
}

/** The world's time in Unix seconds. Between two requests to the server, the console computes it from this machine's clock. */
export function useWorldNow(w: string): { readonly now: number; readonly isFrozen: boolean } | undefined {
  const { data } = useQuery(clockQuery(w));
  const nowMs = useNowMs(data?.frozen === false);
  if (data === undefined) return undefined;
  return { now: data.frozen ? data.now : data.now + Math.max(0, nowMs - data.readAtMs) / 1000, isFrozen: data.frozen };
}

/** The world's clock. It also shows local time if that differs from the world's time. */
export function WorldClock() {
  const world = useWorld();
  const clock = useWorldNow(world);
  if (clock === undefined) return <span className="clock" />;
  const { now, isFrozen } = clock;
  const at = new Date(now * 1000);
  const isElsewhere = Math.abs(at.getTime() - Date.now()) > 5 * A_SECOND_MS;
  return (
    <span className="clock">
      <time dateTime={at.toISOString()} title={`here: ${new Date().toLocaleString()}`}>
        {at.toISOString().slice(0, 19).replace("T", " ")}
      </time>
      {isElsewhere && <span className="quiet">here {new Date().toISOString().slice(11, 19)}</span>}
      <button type="button" aria-pressed={isFrozen} onClick={() => void freeze(world, !isFrozen)}>
        {isFrozen ? "▶ Run" : "❚❚ Stop"}
        <span className="hidden"> the clock</span>
      </button>
    </span>
  );
}
