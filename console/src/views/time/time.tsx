import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { follow } from "../../api/events.ts";
import { Block, WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { advance, freeze, jumpToNext, setClock } from "../../shell/clock-actions.ts";
import { useWorld } from "../../shell/world.ts";
import { deadlineText, secondsLeft, useDeadlines } from "./deadlines.ts";

const steps = [
  ["1 second", 1],
  ["1 minute", 60],
  ["1 hour", 3_600],
  ["1 day", 86_400],
  ["30 days", 2_592_000],
] as const;

/** The next deadlines of a world. The list is also read again after each attempt to send a webhook. */
function useDeadlinesLive(w: string, now: number) {
  const client = useQueryClient();
  useEffect(() => {
    const readAgain = () => void client.invalidateQueries({ queryKey: ["deadlines", w] });
    return follow({ address: () => `/v1/worlds/${encodeURIComponent(w)}/deliveries/stream`, take: readAgain, state() {}, connected: readAgain });
  }, [client, w]);
  return useDeadlines(w, now);
}

export function Time() {
  const w = useWorld();
  const clock = useWorldNow(w);
  const next = useDeadlinesLive(w, clock?.now ?? 0) ?? [];
  const [typed, type] = useState("");
  if (clock === undefined) return null;
  const { now, isFrozen } = clock;
  const set = (event: FormEvent): void => {
    event.preventDefault();
    const at = Date.parse(typed.endsWith("Z") ? typed : `${typed}Z`);
    if (!Number.isNaN(at)) void setClock(w, Math.floor(at / 1000));
  };
  return (
    <div className="scroll">
      <Block isOwn title="The world's clock">
        <p>
          <WorldTime seconds={Math.floor(now)} isLong /> UTC, {isFrozen ? "stopped" : "running"}; local time{" "}
          {new Date().toISOString().slice(0, 19).replace("T", " ")}.
        </p>
        <div className="actions">
          <button type="button" onClick={() => void freeze(w, !isFrozen)}>
            {isFrozen ? "▶ Start the clock" : "❚❚ Stop the clock"}
          </button>
          {steps.map(([name, seconds]) => (
            <button type="button" key={name} onClick={() => void advance(w, seconds)}>
              + {name}
            </button>
          ))}
        </div>
        <form className="actions" onSubmit={set}>
          <label>
            Set the clock to (UTC) <input type="datetime-local" step={1} value={typed} onChange={({ target }) => type(target.value)} required />
          </label>
          <button type="submit">Set</button>
        </form>
      </Block>
      <Block isOwn title="Scheduled">
        {next.length > 0 && (
          <div className="actions">
            <button type="button" className="primary" onClick={() => void jumpToNext(w)}>
              Jump to the next deadline
            </button>
          </div>
        )}
        <Deadlines deadlines={next} now={now} onJump={(time) => void setClock(w, Math.ceil(time))} />
      </Block>
    </div>
  );
}

interface DeadlinesProps {
  readonly deadlines: readonly { readonly time: number; readonly kind: string; readonly of: string }[];
  readonly now: number;
  readonly onJump: (time: number) => void;
}

function Deadlines({ deadlines, now, onJump }: DeadlinesProps) {
  if (deadlines.length === 0)
    return <p className="quiet">Nothing is due. Retries of webhooks, deadlines of live videos and other scheduled work appear here.</p>;
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">In</th>
          <th scope="col">Event</th>
          <th scope="col">
            <span className="hidden">Jump</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deadlines.map(({ time, kind, of }) => (
          <tr key={`${kind} ${of}`}>
            <td>
              <WorldTime seconds={time} isLong />
            </td>
            <td>{secondsLeft(time - now)}</td>
            <td>
              {deadlineText(kind)} <span className="mono">{of}</span>
            </td>
            <td>
              <button type="button" onClick={() => onJump(time)}>
                Jump<span className="hidden"> to {new Date(time * 1000).toISOString()}</span>
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
