import { Link } from "@tanstack/react-router";
import { Named } from "../../parts/named.tsx";
import { useWorld } from "../../shell/world.ts";
import { useRunning } from "../live/live-videos.ts";
import { LiveStatus } from "../live/states.tsx";
import { Panel } from "./panel.tsx";

const SHOWN = 5;

/** The panel with the broadcasts that run. */
export function LiveNow() {
  const running = useRunning(useWorld());
  const all = [...(running?.values() ?? [])];
  // The panel is hidden without broadcasts, because most apps have nothing to do with live video.
  if (all.length === 0) return null;
  return (
    <Panel title="Live" more={<Link to="/live">{all.length > SHOWN ? `All ${all.length} running` : "All broadcasts"}</Link>}>
      <ul className="plain-list">
        {all.slice(0, SHOWN).map(({ id, page, state, feed, health }) => (
          <li key={id} className="one-line">
            <LiveStatus state={state} />{" "}
            <Link to="/live" search={{ video: id }}>
              video {id}
            </Link>{" "}
            of <Named kind="pages" id={page} />,{" "}
            {feed.is_sending ? (health === undefined ? "an encoder sends" : healthText(health)) : "no encoder sends"}
            {(health?.warnings.length ?? 0) > 0 && <span className="warn"> ! {health?.warnings[0]}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const healthText = ({
  bits_per_second,
  frames_per_second,
  width,
  height,
}: { readonly [name in "bits_per_second" | "frames_per_second" | "width" | "height"]: number }): string =>
  `${Math.round(bits_per_second / 1_000)} kbit/s, ${Math.round(frames_per_second)} pictures/s of ${width} × ${height}`;
