import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useCallback, useMemo } from "react";
import { type Entry, type Kind, kindNamedBy } from "../../api/graph/kinds.ts";
import { kindsQuery, listNodes, textOf } from "../../api/graph/nodes.ts";
import { useList } from "../../api/lists.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Icon, kindIcon } from "../../parts/icon.tsx";
import { NAME_KEYS, Named, nameOf } from "../../parts/named.tsx";
import { Split } from "../../parts/split.tsx";
import { CopyId, Empty, Nothing, Problem } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { NodeDetail } from "./node-detail.tsx";

const route = getRouteApi("/graph");

/** The greatest number of columns beside the id, as many as the list has space for. */
const COLUMNS_MAX = 4;
const idOf = ({ id }: Entry): string => String(id);
const NEW = "new";
const NONE: readonly Kind[] = [];

export function Graph() {
  const w = useWorld();
  const { kind = "pages", id } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: kinds = NONE, isSuccess } = useQuery(kindsQuery);
  const list = useList<Entry>(["nodes", w, kind], (after) => listNodes(w, kind, after));
  const known = kinds.find(({ name }) => name === kind);
  const columns = useMemo(
    () =>
      columnsOf(
        kind,
        known?.keys ?? [],
        kinds.map(({ name }) => name),
        list.rows,
      ),
    [kind, known, kinds, list.rows],
  );
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
  if (isSuccess && known === undefined) return <NoKind kind={kind} />;
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
              <option key={name} value={name}>
                {name.replaceAll("_", " ")}
              </option>
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
      <Split title={id === NEW ? `New in ${kind.replaceAll("_", " ")}` : <Named kind={kind} id={id ?? ""} />} detail={detail} onClose={close}>
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

const NoKind = ({ kind }: { readonly kind: string }) => (
  <Nothing title={`There is no kind ${kind}`}>
    <p>The address names a kind of node that this server does not have. The list of pages offers all kinds.</p>
    <Link to="/graph" search={({ world }) => ({ world })}>
      Pages
    </Link>
  </Nothing>
);

/** The columns of a list of nodes, also if the list is empty: the name, then the other keys, of which ids are shown by their nodes' names. */
const columnsOf = (kind: string, keys: readonly string[], kinds: readonly string[], rows: readonly Entry[]): Column<Entry>[] => [
  {
    id: "name",
    title: "Name",
    width: "minmax(240px, 1.4fr)",
    cell: (entry) => (
      <span className="named">
        <Icon name={kindIcon(kind)} />
        {nameOf(entry) !== "" && <span>{nameOf(entry)}</span>}
        <CopyId id={String(entry.id)} isCell />
      </span>
    ),
  },
  ...keys
    .filter((key) => key !== "id" && !NAME_KEYS.includes(key) && (rows.length === 0 || rows.some((row) => row[key] !== undefined)))
    .slice(0, COLUMNS_MAX)
    .map((key) => {
      const of = kindNamedBy(key, kinds);
      const cell = (entry: Entry) => {
        const text = textOf(entry[key]);
        return of === undefined || typeof entry[key] !== "string" ? text : <Named kind={of} id={text} isCell />;
      };
      return { id: key, title: key.replaceAll("_", " "), width: "minmax(100px, 1fr)", cell };
    }),
];
