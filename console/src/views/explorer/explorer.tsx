import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { operationsQuery } from "../../api/queries.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Icon, kindIcon } from "../../parts/icon.tsx";
import { Split } from "../../parts/split.tsx";
import { Problem } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { OperationForm } from "./operation-form.tsx";
import type { Operation } from "./operations.ts";

const route = getRouteApi("/explorer");

/** The name of an operation that new integrations should not use is struck through, as in the API reference. */
function OperationName({ operation: { operation, is_discouraged } }: { readonly operation: Operation }) {
  if (!is_discouraged) return operation;
  return <s title="Discouraged for new integrations">{operation}</s>;
}

const columns: readonly Column<Operation>[] = [
  {
    id: "on",
    title: "On",
    width: "minmax(140px, 0.6fr)",
    cell: ({ node_type }) => (
      <span className="named">
        <Icon name={kindIcon(`${node_type}s`)} />
        {node_type?.replaceAll("_", " ") ?? "no node"}
      </span>
    ),
  },
  { id: "operation", title: "Operation", width: "minmax(180px, 1fr)", cell: (one) => <OperationName operation={one} /> },
  { id: "method", title: "Method", width: "64px", cell: ({ method }) => <span className="mono">{method}</span> },
  { id: "path", title: "Path", width: "minmax(180px, 1fr)", cell: ({ path }) => <span className="mono">{path}</span> },
  { id: "summary", title: "Summary", width: "minmax(240px, 2fr)", cell: ({ summary }) => summary },
];
const fewer = columns.slice(0, 3);
const idOf = ({ operation }: Operation): string => operation;

/** Sorts operations by node type, so that operations on the same kind of node are next to each other. */
const byNoun = (operations: readonly Operation[]): readonly Operation[] =>
  operations.toSorted((a, b) => `${a.node_type ?? ""} ${a.operation}`.localeCompare(`${b.node_type ?? ""} ${b.operation}`));

export function Explorer() {
  const world = useWorld();
  const { operation, find = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error } = useQuery(operationsQuery(world));
  const choose = useCallback(
    (next: string | undefined) => void navigate({ search: (before) => ({ ...before, operation: next, id: undefined }), replace: true }),
    [navigate],
  );
  const close = useCallback(() => choose(undefined), [choose]);
  const all = useMemo(() => byNoun(data?.data ?? []), [data]);
  const wanted = find.toLowerCase();
  const rows = all.filter(({ operation: name, path, node_type = "" }) => `${name} ${path} ${node_type}`.toLowerCase().includes(wanted));
  const chosen = all.find(({ operation: name }) => name === operation);
  return (
    <>
      <search className="bar" aria-label="Filter">
        <input
          type="search"
          aria-label="Part of an operation's name, path or node type"
          placeholder="Operation, path, node type"
          value={find}
          onChange={({ target }) => void navigate({ search: (before) => ({ ...before, find: target.value || undefined }), replace: true })}
        />
        <span className="space" />
        <a href="/docs">API reference</a>
        <span className="quiet">
          {rows.length} of {all.length} operations
        </span>
      </search>
      {error !== null && <Problem error={error} />}
      <Split
        title={chosen?.operation ?? ""}
        detail={chosen === undefined ? undefined : <OperationForm key={chosen.operation} operation={chosen} />}
        onClose={close}
      >
        <DataTable label="Operations" columns={chosen === undefined ? columns : fewer} rows={rows} idOf={idOf} chosen={operation} onChoose={choose} />
      </Split>
    </>
  );
}
