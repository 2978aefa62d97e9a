import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useCallback, useMemo } from "react";
import { type Entry, kindsQuery, listNodes, textOf } from "../../api/graph/nodes.ts";
import { useList } from "../../api/lists.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Split } from "../../parts/split.tsx";
import { Empty, Problem } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { NodeDetail } from "./node-detail.tsx";

const route = getRouteApi("/graph");

/** The greatest number of columns beside the id, as many as the list has space for. */
const COLUMNS_MAX = 4;
const idOf = ({ id }: Entry): string => String(id);
const NEW = "new";

export function Graph() {
  const w = useWorld();
  const { kind = "pages", id } = route.useSearch();
  const navigate = route.useNavigate();
  const kinds = useQuery(kindsQuery).data ?? [];
  const list = useList<Entry>(["nodes", w, kind], (after) => listNodes(w, kind, after));
  const known = kinds.find(({ name }) => name === kind);
  const columns = useMemo(() => columnsOf(known?.keys ?? [], list.rows), [known, list.rows]);
  const set = useCallback(
    (change: { kind?: string | undefined; id?: string | undefined }) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace: true }),
    [navigate],
  );
  const choose = useCallback((next: string) => set({ id: next }), [set]);
  const close = useCallback(() => set({ id: undefined }), [set]);
  const find = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget).get("id")).trim();
    if (wanted !== "") choose(wanted);
  };
  const detail =
    id === undefined || known === undefined ? undefined : (
      <NodeDetail key={`${kind} ${id}`} kind={known} id={id === NEW ? undefined : id} onOpen={set} />
    );
  return (
    <>
      <div className="bar">
        <label>
          Kind
          <select value={kind} onChange={({ target }) => set({ kind: target.value, id: undefined })}>
            {kinds.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <form onSubmit={find}>
          <input type="search" name="id" aria-label="Id of a node of this kind" placeholder="Id, then Enter" />
        </form>
        <span className="space" />
        <button type="button" className="primary" onClick={() => choose(NEW)}>
          New
        </button>
      </div>
      {list.error !== null && <Problem error={list.error} />}
      <Split title={id === NEW ? `New: ${kind}` : `${kind} ${id ?? ""}`} detail={detail} onClose={close}>
        {list.rows.length === 0 && list.isLoaded ? (
          <Empty title={`No ${kind} yet`}>
            <p>Create one here, with a world file, or with the control API: POST …/nodes/{kind}.</p>
          </Empty>
        ) : (
          <DataTable label={kind} columns={columns} rows={list.rows} idOf={idOf} chosen={id} onChoose={choose} onEnd={list.more} />
        )}
      </Split>
    </>
  );
}

/** The columns of a list of nodes, also if the list is empty. */
const columnsOf = (keys: readonly string[], rows: readonly Entry[]): Column<Entry>[] => [
  { id: "id", title: "id", width: "160px", cell: ({ id }) => <span className="mono">{String(id)}</span> },
  ...keys
    .filter((key) => key !== "id" && (rows.length === 0 || rows.some((row) => row[key] !== undefined)))
    .slice(0, COLUMNS_MAX)
    .map((key) => ({ id: key, title: key, width: "minmax(100px, 1fr)", cell: (entry: Entry) => textOf(entry[key]) })),
];
