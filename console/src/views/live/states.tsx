/** The states of live videos, in words and as a line of time. */
import { WorldTime } from "../../parts/texts.tsx";
import type { LiveState } from "./live-videos.ts";

const LOOKS: Readonly<Record<string, readonly [className: string, sign: string, text: string]>> = {
  unpublished: ["quiet", "○", "unpublished"],
  scheduled_unpublished: ["quiet", "○", "planned, not published"],
  scheduled_live: ["quiet", "○", "planned"],
  scheduled_expired: ["quiet", "✕", "planned time missed"],
  scheduled_canceled: ["quiet", "✕", "canceled"],
  live: ["live", "●", "live"],
  reconnecting: ["warn", "↻", "reconnecting"],
  key_replaced: ["live", "●", "live with the old stream key"],
  key_dead: ["bad", "✕", "stream key expired"],
  ending: ["warn", "…", "ending"],
  stopped: ["quiet", "■", "stopped"],
  processing: ["quiet", "…", "processing"],
  vod: ["good", "✓", "recording"],
  taken_down: ["bad", "✕", "taken down"],
  lapsed: ["bad", "✕", "taken down for good"],
};

export function LiveStatus({ state }: { readonly state: string }) {
  const [className, sign, text] = LOOKS[state] ?? ["quiet", "○", state];
  return (
    <span className={className}>
      <span aria-hidden="true">{sign}</span> {text}
    </span>
  );
}

export const stateText = (state: string): string => LOOKS[state]?.[2] ?? state;

const EVENTS: Readonly<Record<string, string>> = {
  feed_started: "an encoder connected",
  feed_refused: "an encoder was refused",
  feed_lost: "the encoder disconnected",
  feed_missed: "no encoder connected in time",
  audio_missing: "no sound arrived",
  storage_missing: "the recording could not be stored",
  key_regenerated: "a new stream key was created",
  key_replaced: "a new stream key was created while the encoder sent",
  reconnect_window_closed: "the encoder did not reconnect in time",
  new_key_window_closed: "nobody created a new stream key in time",
  end_signalled: "the broadcast was ended",
  sealing_failed: "sealing the recording failed",
  sealed: "the recording was sealed",
  processing_began: "processing began",
  processed: "the recording is ready",
  planned_time_came: "the planned time has arrived",
  start_missed: "the planned time was missed",
  notice_lapsed: "the restore notice lapsed",
  declared: "an operator set the state",
};

export const eventText = (event: string): string => EVENTS[event] ?? event.replaceAll("_", " ");

/** A bar that shows how long each state lasted, and each move in words. `now` is the world's time in Unix seconds. */
export function Moves({ history, now }: { readonly history: LiveState["history"]; readonly now: number }) {
  if (history.length === 0) return <p className="quiet">The state has not changed since the video was created.</p>;
  const from = history[0]?.time ?? now;
  const whole = Math.max(1, now - from);
  return (
    <>
      <div className="states" aria-hidden="true">
        {history.map(({ time, event, state }, at) => (
          <span
            key={`${time} ${event}`}
            className={LOOKS[state]?.[0]}
            title={stateText(state)}
            style={{ flexGrow: ((history[at + 1]?.time ?? now) - time) / whole }}
          />
        ))}
      </div>
      <ol className="moves">
        {history.map(({ time, event, state, reason }) => (
          <li key={`${time} ${event}`}>
            <WorldTime seconds={time} /> {eventText(event)}
            {reason !== undefined && `: ${reason}`} → <LiveStatus state={state} />
          </li>
        ))}
      </ol>
    </>
  );
}
