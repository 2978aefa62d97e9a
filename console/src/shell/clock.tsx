import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { clockQuery } from "../api/queries.ts";
import { Icon } from "../parts/icon.tsx";
import { freeze } from "./clock-actions.ts";
import { useWorld } from "./world.ts";

const A_SECOND_MS = 1_000;

const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all components that show a time, while at least one is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) nowMs = Date.now();
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const one of listeners) one();
  }, A_SECOND_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
const never = (): (() => void) => () => {};

/** The time of this machine in milliseconds. Renders the component once a second while `isOn` is set. */
export const useNowMs = (isOn = true): number => useSyncExternalStore(isOn ? subscribe : never, () => nowMs);

/** The world's time in Unix seconds. Between two requests to the server, the console computes it from this machine's clock. */
export function useWorldNow(w: string): { readonly now: number; readonly isFrozen: boolean } | undefined {
  const { data } = useQuery(clockQuery(w));
  const nowMs = useNowMs(data?.frozen === false);
  if (data === undefined) return undefined;
  return { now: data.frozen ? data.now : data.now + Math.max(0, nowMs - data.readAtMs) / 1000, isFrozen: data.frozen };
}

const OFF_MS_MAX = 5 * A_SECOND_MS;
const FAR = 86_400;

/** The world's clock, and the button that stops it. The label names the world's clock, so that nobody takes it for the server's. */
export function WorldClock() {
  const world = useWorld();
  const clock = useWorldNow(world);
  if (clock === undefined) return <span className="clock" />;
  const { now, isFrozen } = clock;
  const at = new Date(now * 1000);
  return (
    <fieldset className="clock">
      <legend className="hidden">World clock</legend>
      <Icon name="clock" />
      <time dateTime={at.toISOString()} title={`The world's time, UTC: ${at.toISOString().slice(0, 19).replace("T", " ")}`}>
        {at.toISOString().slice(11, 19)}
      </time>
      <button type="button" aria-pressed={isFrozen} onClick={() => void freeze(world, !isFrozen)}>
        <Icon name={isFrozen ? "play" : "pause"} />
        <span className="word">{isFrozen ? "Run clock" : "Stop clock"}</span>
      </button>
    </fieldset>
  );
}

/** Every view says that the world's time is not the real time. */
export function ClockBand() {
  const clock = useWorldNow(useWorld());
  if (clock === undefined) return null;
  const { now, isFrozen } = clock;
  const aheadMs = now * 1000 - Date.now();
  if (!isFrozen && Math.abs(aheadMs) <= OFF_MS_MAX) return null;
  const far = Math.abs(aheadMs) / 1000;
  const said =
    far > FAR
      ? `${Math.round(far / FAR)} days`
      : far > 3_600
        ? `${(far / 3_600).toFixed(1)} hours`
        : far > 60
          ? `${Math.round(far / 60)} minutes`
          : "";
  return (
    <p className="clock-band">
      <Icon name="clock" />
      The world's clock {isFrozen ? "is stopped" : "runs"} at <strong>{new Date(now * 1000).toISOString().slice(0, 19).replace("T", " ")}</strong>
      {said !== "" && ` · ${said} ${aheadMs > 0 ? "ahead of" : "behind"} your clock`}
      <Link to="/time" search={({ world }) => ({ world })}>
        Time
      </Link>
    </p>
  );
}
