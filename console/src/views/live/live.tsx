import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Split } from "../../parts/split.tsx";
import { Empty, Problem, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { LiveDetail } from "./live-detail.tsx";
import { type LiveVideo, useLiveVideos } from "./live-videos.ts";
import { LiveStatus } from "./states.tsx";

const route = getRouteApi("/live");

const columns: readonly Column<LiveVideo>[] = [
  { id: "state", title: "State", width: "136px", cell: ({ state }) => <LiveStatus state={state} /> },
  { id: "title", title: "Title", width: "minmax(140px, 2fr)", cell: ({ title, id }) => title ?? <span className="quiet">{id}</span> },
  { id: "page", title: "Page", width: "88px", cell: ({ page }) => page },
  { id: "created", title: "Created", width: "152px", cell: ({ created }) => <WorldTime seconds={created} isLong /> },
  { id: "rate", title: "Bit rate", width: "104px", isNumber: true, cell: ({ running }) => bitRate(running?.health?.bits_per_second) },
  { id: "warnings", title: "Warnings", width: "72px", isNumber: true, cell: ({ running }) => <Warnings count={running?.health?.warnings.length} /> },
];

/** The columns that are shown while a detail is open, because the list then has less space. */
const fewer = columns.filter(({ id }) => id === "state" || id === "title" || id === "warnings");

const bitRate = (bits: number | undefined): string => (bits === undefined ? "" : `${Math.round(bits / 1_000)} kbit/s`);

function Warnings({ count }: { readonly count: number | undefined }) {
  if (count === undefined) return null;
  return count === 0 ? <span className="good">✓ 0</span> : <span className="warn">! {count}</span>;
}

const idOf = ({ id }: LiveVideo): string => id;

export function Live() {
  const w = useWorld();
  const navigate = route.useNavigate();
  const { video } = route.useSearch();
  const { rows, isLoaded, error, more } = useLiveVideos(w);
  const show = useCallback((id: string | undefined) => void navigate({ search: (before) => ({ ...before, video: id }), replace: true }), [navigate]);
  const close = useCallback(() => show(undefined), [show]);
  const chosen = rows.find(({ id }) => id === video);
  const detail = chosen === undefined ? undefined : <LiveDetail key={`${w} ${chosen.id}`} video={chosen} />;
  return (
    <>
      <div className="bar">
        <span className="quiet">Running broadcasts come first and are updated.</span>
      </div>
      <Split title="Live video" detail={detail} onClose={close}>
        {error !== null && <Problem error={error} />}
        {rows.length === 0 && isLoaded ? (
          <Empty title="No live video yet">
            <p>
              A page creates one with <code>POST /{"{page_id}"}/live_videos</code> and gives its stream address to an encoder. Or the server's own
              encoder sends a test clip.
            </p>
          </Empty>
        ) : (
          <DataTable
            label="Live videos, running ones first"
            columns={detail === undefined ? columns : fewer}
            rows={rows}
            idOf={idOf}
            chosen={video}
            onChoose={(id) => show(id)}
            onEnd={more}
          />
        )}
      </Split>
    </>
  );
}
