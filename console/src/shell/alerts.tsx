/** The number of alerts in the header of every view; a click shows the list. */
import { useRef } from "react";
import { useAlerts } from "../api/alerts.ts";
import { AlertList, LEVELS } from "../parts/alert-list.tsx";
import { countOf } from "../parts/texts.tsx";
import { useWorld } from "./world.ts";

/** The id of the element with the list of alerts, which the command palette can open too. */
export const ALERTS_ID = "alerts";

export function Alerts() {
  const alerts = useAlerts(useWorld());
  const list = useRef<HTMLDivElement>(null);
  // The worst alert is the first of the list.
  const [className, sign] = alerts?.[0] === undefined ? ["quiet", "✓"] : LEVELS[alerts[0].level];
  return (
    <>
      <button type="button" className={`alert-count ${className}`} popoverTarget={ALERTS_ID}>
        <span aria-hidden="true">{sign}</span>
        <span className="word" aria-live="polite">
          {alerts === undefined ? "… alerts" : countOf(alerts.length, "alert")}
        </span>
      </button>
      <section popover="auto" id={ALERTS_ID} ref={list} className="alert-window" aria-label="Alerts">
        <h2>Needs attention</h2>
        {alerts === undefined || alerts.length === 0 ? (
          <p className="quiet">
            Nothing. Callbacks that fail or are paused, webhooks without a receiver, requests that failed, versions that end soon, faults and
            broadcasts that are interrupted appear here.
          </p>
        ) : (
          <AlertList alerts={alerts} onFollowed={() => list.current?.hidePopover()} />
        )}
      </section>
    </>
  );
}
