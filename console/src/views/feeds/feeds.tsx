import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { listNodes, textOf } from "../../api/graph/nodes.ts";
import { useList } from "../../api/lists.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Split } from "../../parts/split.tsx";
import { Empty, Problem, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { NewUpload } from "./new-upload.tsx";
import { UploadDetail, UploadStatus } from "./upload-detail.tsx";
import { readUploads, type Upload } from "./uploads.ts";

const route = getRouteApi("/feeds");
const NEW = "new";

const columns: readonly Column<Upload>[] = [
  { id: "time", title: "World time", width: "152px", cell: ({ created_time }) => <WorldTime seconds={created_time} isLong /> },
  { id: "status", title: "Status", width: "104px", cell: ({ status }) => <UploadStatus status={status} /> },
  { id: "source", title: "From", width: "minmax(120px, 1fr)", cell: ({ file_name, url, source }) => file_name ?? url ?? source },
  { id: "rows", title: "Rows", width: "72px", isNumber: true, cell: ({ rows }) => rows },
  { id: "items", title: "Items", width: "72px", isNumber: true, cell: ({ items }) => items },
  { id: "bad", title: "Bad rows", width: "72px", isNumber: true, cell: ({ bad_rows }) => bad_rows },
];
/** The columns that are shown while a detail is open, because the list then has less space. */
const fewer = columns.filter(({ id }) => id !== "rows" && id !== "bad");
const idOf = ({ n }: Upload): string => String(n);

/** The view of product feeds: their items and uploads. */
export function Feeds() {
  const w = useWorld();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const feeds = useQuery({ queryKey: ["nodes", w, "product_feeds", "feeds"], queryFn: () => listNodes(w, "product_feeds", undefined) }).data?.data;
  const feed = search.feed ?? (feeds?.[0] === undefined ? undefined : String(feeds[0].id));
  const set = useCallback(
    (change: { feed?: string | undefined; upload?: string | undefined }) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace: true }),
    [navigate],
  );
  const close = useCallback(() => set({ upload: undefined }), [set]);
  if (feeds === undefined) return null;
  if (feed === undefined)
    return (
      <Empty title="No product feed yet">
        <p>
          A feed fills a catalog with items. First{" "}
          <Link to="/graph" search={({ world }) => ({ world, kind: "catalogs", id: "new" })}>
            create a catalog
          </Link>
          , then{" "}
          <Link to="/graph" search={({ world }) => ({ world, kind: "product_feeds", id: "new" })}>
            a feed
          </Link>
          .
        </p>
      </Empty>
    );
  const chosen = feeds.find(({ id }) => String(id) === feed);
  const items = Array.isArray(chosen?.items) ? chosen.items.length : 0;
  return (
    <>
      <div className="bar">
        <label>
          Feed
          <select value={feed} onChange={({ target }) => set({ feed: target.value, upload: undefined })}>
            {feeds.map((one) => (
              <option key={String(one.id)} value={String(one.id)}>
                {textOf(one.name ?? one.id)}
              </option>
            ))}
          </select>
        </label>
        <span className="quiet">
          {items} {items === 1 ? "item" : "items"} in its catalog
        </span>
        <Link to="/graph" search={({ world }) => ({ world, kind: "product_feeds", id: feed })}>
          Open feed and items
        </Link>
        <Link to="/graph" search={({ world }) => ({ world, kind: "catalogs", id: textOf(chosen?.catalog) })}>
          Open catalog
        </Link>
        <span className="space" />
        <button type="button" className="primary" onClick={() => set({ upload: NEW })}>
          Upload a file
        </button>
      </div>
      <Uploads key={`${w} ${feed}`} feed={feed} chosen={search.upload} onChoose={(upload) => set({ upload })} onClose={close} />
    </>
  );
}

interface UploadsProps {
  readonly feed: string;
  readonly chosen: string | undefined;
  readonly onChoose: (upload: string) => void;
  readonly onClose: () => void;
}

function Uploads({ feed, chosen, onChoose, onClose }: UploadsProps) {
  const w = useWorld();
  const { rows, isLoaded, error, more } = useList<Upload>(["uploads", w, feed], (after) => readUploads(w, feed, after));
  const detail =
    chosen === undefined ? undefined : chosen === NEW ? (
      <NewUpload feed={feed} onStarted={(n) => onChoose(String(n))} />
    ) : (
      <UploadDetail key={chosen} feed={feed} n={Number(chosen)} />
    );
  return (
    <Split title={chosen === NEW ? "New upload" : `Upload ${chosen ?? ""}`} detail={detail} onClose={onClose}>
      {error !== null && <Problem error={error} />}
      {rows.length === 0 && isLoaded ? (
        <Empty title="No upload yet">
          <p>Upload a file of items, as CSV, TSV, XML or JSON lines: rejected rows are listed with the reason.</p>
        </Empty>
      ) : (
        <DataTable
          label="Uploads of the feed, the newest first"
          columns={detail === undefined ? columns : fewer}
          rows={rows}
          idOf={idOf}
          chosen={chosen}
          onChoose={onChoose}
          onEnd={more}
        />
      )}
    </Split>
  );
}
