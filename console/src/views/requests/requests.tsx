import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo } from "react";
import { holdTail, type RequestLine, readTail, useTail } from "../../api/tail.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Named } from "../../parts/named.tsx";
import { Split } from "../../parts/split.tsx";
import { HttpStatus, milliseconds, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { Filters } from "./filters.tsx";
import { FirstRequest } from "./first-request.tsx";
import { RequestDetail } from "./request-detail.tsx";

const route = getRouteApi("/requests");

const columns: readonly Column<RequestLine>[] = [
  { id: "time", title: "Time", width: "80px", cell: ({ time }) => <WorldTime seconds={time} /> },
  { id: "status", title: "Status", width: "56px", cell: ({ status }) => <HttpStatus status={status} /> },
  { id: "method", title: "Method", width: "56px", cell: ({ method }) => <span className="mono">{method}</span> },
  { id: "path", title: "Path", width: "minmax(168px, 2fr)", cell: ({ path }) => <span className="mono">{path}</span> },
  { id: "operation", title: "Operation", width: "minmax(96px, 1fr)", cell: ({ operation }) => operation },
  { id: "app", title: "App", width: "minmax(120px, 0.8fr)", cell: ({ app }) => (app === undefined ? "" : <Named kind="apps" id={app} isCell />) },
  { id: "duration", title: "Duration", width: "72px", isNumber: true, cell: ({ duration_ms }) => milliseconds(duration_ms) },
];

/** The columns that are shown while a detail is open, because the list then has less space. */
const fewer = columns.filter(({ id }) => id !== "app" && id !== "duration");

const idOf = ({ trace_id }: RequestLine): string => trace_id;

export function Requests() {
  const world = useWorld();
  const { status, method, operation, app, search, request } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useMemo(
    () => ({ status_class: status === undefined ? undefined : Number(status), method, operation, app, search }),
    [status, method, operation, app, search],
  );
  useEffect(() => readTail(world, filter), [world, filter]);
  useEffect(() => () => holdTail(false), []);
  const { lines, isLoaded, held, skipped } = useTail();
  const choose = useCallback(
    (id: string | undefined) => void navigate({ search: (before) => ({ ...before, request: id }), replace: true }),
    [navigate],
  );
  const close = useCallback(() => choose(undefined), [choose]);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Filters />
      <Split
        title="Request"
        detail={request === undefined ? undefined : <RequestDetail key={request} trace={request} onOpen={choose} />}
        onClose={close}
      >
        {held > 0 && (
          <button type="button" className="plain live" onClick={() => holdTail(false)}>
            ↑ {held} new
          </button>
        )}
        {skipped > 0 && (
          <p className="bar warn">! {skipped} more arrived too fast to show and are only counted. Filter the list to find a request.</p>
        )}
        {lines.length === 0 && isLoaded ? (
          <FirstRequest isFiltered={isFiltered} />
        ) : (
          <DataTable
            label="Requests, the newest first"
            columns={request === undefined ? columns : fewer}
            rows={lines}
            idOf={idOf}
            chosen={request}
            onChoose={choose}
            onScrolled={(isAtTop) => holdTail(!isAtTop)}
          />
        )}
      </Split>
    </>
  );
}
