import { Link } from "@tanstack/react-router";
import { Skeleton, WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { jumpToNext } from "../../shell/clock-actions.ts";
import { useWorld } from "../../shell/world.ts";
import { deadlineText, useDeadlines } from "../time/deadlines.ts";
import { Panel } from "./panel.tsx";

const SHOWN = 4;

/** The panel with the work that is scheduled next by the world's clock. */
export function DueNext() {
  const w = useWorld();
  const clock = useWorldNow(w);
  const now = clock?.now ?? 0;
  const next = useDeadlines(w, now);
  return (
    <Panel title="Due next" more={<Link to="/time">{next !== undefined && next.length > SHOWN ? `All ${next.length}` : "The clock"}</Link>}>
      {next === undefined && <Skeleton />}
      {next?.length === 0 && (
        <p className="quiet">Nothing is due. Retries of webhooks, deadlines of live videos and other scheduled work appear here.</p>
      )}
      {next !== undefined && next.length > 0 && (
        <>
          <ul className="plain-list">
            {next.slice(0, SHOWN).map(({ time, kind, of }) => (
              <li key={`${kind} ${of}`} className="one-line">
                <WorldTime seconds={time} />: {deadlineText(kind)} <span className="mono">{of}</span>
              </li>
            ))}
          </ul>
          <div className="actions">
            <button type="button" onClick={() => void jumpToNext(w)}>
              Jump to the next
            </button>
            {clock?.isFrozen === true && <span className="warn">! The clock is stopped, so none of this happens.</span>}
          </div>
        </>
      )}
    </Panel>
  );
}
