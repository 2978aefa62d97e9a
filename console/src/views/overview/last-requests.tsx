/** The last requests of the world, with the reason of each that was refused or failed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { requestQuery } from "../../api/queries.ts";
import type { RequestLine, Tail } from "../../api/tail.ts";
import { HttpStatus, Skeleton, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { reasonOf } from "../requests/error-body.ts";
import { FirstRequest } from "../requests/first-request.tsx";

const SHOWN = 8;

export function LastRequests({ tail: { lines, isLoaded } }: { readonly tail: Tail }) {
  if (!isLoaded) return <Skeleton lines={5} />;
  if (lines.length === 0) return <FirstRequest isFiltered={false} />;
  return (
    <ul className="last-requests">
      {lines.slice(0, SHOWN).map((line) => (
        <li key={line.trace_id}>
          <HttpStatus status={line.status} />
          <span className="one-line">
            <Link to="/requests" search={{ request: line.trace_id }}>
              {line.operation === "unknown" ? `${line.method} ${line.path}` : line.operation}
            </Link>{" "}
            <span className="quiet mono">{line.operation === "unknown" ? "" : line.path}</span>
          </span>
          <small className="quiet">
            <WorldTime seconds={line.time} />
          </small>
          {line.status >= 400 && <Why line={line} />}
        </li>
      ))}
    </ul>
  );
}

/** Shows why a request was refused. */
function Why({ line }: { readonly line: RequestLine & { readonly reason?: string | undefined } }) {
  const { data } = useQuery({ ...requestQuery(useWorld(), line.trace_id), enabled: line.reason === undefined });
  return <span className="why quiet two-lines">{line.reason ?? (data === undefined ? " " : reasonOf(data))}</span>;
}
