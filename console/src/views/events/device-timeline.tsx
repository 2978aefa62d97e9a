/**
 * A timeline of a device. Each touch of an ad has a line with its attribution window and the events that are attributed to the touch. A text
 * beside each line of the timeline says the same as the line.
 */
import { WorldTime } from "../../parts/texts.tsx";
import { type DeviceEvent, type DeviceView, eventText, type Touch, touchText } from "./devices.ts";

/** The greatest number of touches to show, the newest ones: nobody reads more lines. */
const TOUCHES_MAX = 20;
/** The empty margin on each side of the timeline, as a fraction of its length. */
const MARGIN = 0.04;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The span of time of all touches, all events and the present. Attribution windows that end after this span are cut off. */
function spanOf({ touches, events }: DeviceView, now: number): Span {
  const times = [now, ...touches.map(({ time }) => time), ...events.map(({ event_time }) => event_time)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const margin = Math.max(1, (last - first) * MARGIN);
  return { from: first - margin, to: last + margin };
}

export function DeviceTimeline({ device, now }: { readonly device: DeviceView; readonly now: number }) {
  const span = spanOf(device, now);
  const touches = device.touches.slice(-TOUCHES_MAX);
  const due = Map.groupBy(device.events, ({ due_to }) => due_to);
  return (
    <ul className="lifetimes touches">
      {touches.map((touch) => (
        <TouchLine key={touch.id} touch={touch} events={due.get(touch.id) ?? []} span={span} now={now} />
      ))}
      <li>
        <span>not attributed</span>
        <Line events={due.get(undefined) ?? []} span={span} now={now} />
        <span className="quiet">{counted(due.get(undefined) ?? [])}</span>
      </li>
    </ul>
  );
}

interface LineProps {
  readonly events: readonly DeviceEvent[];
  readonly span: Span;
  readonly now: number;
  readonly touch?: Touch;
}

function TouchLine({ touch, events, span, now }: LineProps & { readonly touch: Touch }) {
  const { until, claims, objective } = touch;
  return (
    <li>
      <span>{touchText(touch)}</span>
      <Line touch={touch} events={events} span={span} now={now} />
      <span>
        <WorldTime seconds={touch.time} isLong />
        {claims ? (
          <span className={until > now ? "good" : "quiet"}>
            {" "}
            {until > now ? "✓ claims until" : "✕ claimed until"} <WorldTime seconds={until} isLong />
          </span>
        ) : (
          <span className="quiet"> ✕ an ad for {objective} that does not track this app</span>
        )}
        <br />
        {counted(events)}
      </span>
    </li>
  );
}

const counted = (events: readonly DeviceEvent[]): string => {
  const names = Map.groupBy(events, eventText);
  return names.size === 0 ? "no event" : [...names].map(([name, { length }]) => (length === 1 ? name : `${length} × ${name}`)).join(", ");
};

function Line({ touch, events, span: { from, to }, now }: LineProps) {
  const share = (seconds: number): string => `${(100 * (Math.min(Math.max(seconds, from), to) - from)) / (to - from)}%`;
  return (
    <span className="lifetime" aria-hidden="true">
      {touch?.claims === true && (
        <span className="life claim" style={{ left: share(touch.time), width: `calc(${share(touch.until)} - ${share(touch.time)})` }} />
      )}
      <span className="mark" style={{ left: share(now) }} />
      {touch !== undefined && <span className="touch" title={touchText(touch)} style={{ left: share(touch.time) }} />}
      {events.map((event) => (
        <span key={event.key} className="event" title={eventText(event)} style={{ left: share(event.event_time) }} />
      ))}
    </span>
  );
}
