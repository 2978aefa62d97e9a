/** The last requests of the world, with the reason of each that was refused or failed. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { requestQuery } from "../../api/queries.ts";
import type { RequestLine, Tail } from "../../api/tail.ts";
import { HttpStatus, Skeleton, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { errorIn } from "../requests/error-body.ts";
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

/** Why a request was refused, as its response says it. */
function Why({ line: { trace_id } }: { readonly line: RequestLine }) {
  const { data } = useQuery(requestQuery(useWorld(), trace_id));
  const said = data === undefined ? undefined : errorIn(data.response_body);
  return <span className="why quiet two-lines">{said?.error_user_msg ?? said?.message ?? " "}</span>;
}
