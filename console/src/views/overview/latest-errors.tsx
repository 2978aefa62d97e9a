/** The last requests that did not succeed. Requests with the same error are one group, with an explanation of the error. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, dataOf } from "../../api/client.ts";
import { errorsQuery } from "../../api/queries.ts";
import type { Tail } from "../../api/tail.ts";
import { HttpStatus, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { entriesOf, errorIn } from "../requests/error-body.ts";
import { Panel } from "./panel.tsx";

const READ = 50;
const SHOWN = 4;

const readErrors = async (w: string) => {
  const ofClass = (status_class: number) =>
    dataOf(api.GET("/v1/worlds/{w}/requests", { params: { path: { w }, query: { status_class, limit: READ } } }));
  const [refused, failed] = await Promise.all([ofClass(4), ofClass(5)]);
  return [...refused.data, ...failed.data].sort((one, other) => other.time - one.time);
};
type Refused = Awaited<ReturnType<typeof readErrors>>[number];

/** Groups requests of the same operation with the same error. */
function alike(requests: readonly Refused[]): readonly { readonly newest: Refused; readonly count: number }[] {
  const groups = Map.groupBy(requests, ({ operation, status, response_body }) => `${operation} ${status} ${errorIn(response_body)?.message}`);
  return [...groups.values()].map((all) => ({ newest: all[0] as Refused, count: all.length }));
}

export function LatestErrors({ tail: { errors } }: { readonly tail: Tail }) {
  const w = useWorld();
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: ["refused", w], queryFn: () => readErrors(w) });
  const catalogue = useQuery({ ...errorsQuery, enabled: data !== undefined && data.length > 0 }).data?.data;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read anew when there are more.
  useEffect(() => void client.invalidateQueries({ queryKey: ["refused", w] }), [client, w, errors]);
  return (
    <Panel
      title="Latest errors"
      more={
        data !== undefined &&
        data.length > 0 && (
          <Link to="/requests" search={{ status: "4" }}>
            All refused requests
          </Link>
        )
      }
    >
      {data?.length === 0 && <p className="good">✓ None of the last requests was refused or failed.</p>}
      {data !== undefined && data.length > 0 && (
        <ul className="errors">
          {alike(data)
            .slice(0, SHOWN)
            .map(({ newest: request, count }) => (
              <li key={request.trace_id}>
                <span>
                  <WorldTime seconds={request.time} /> <HttpStatus status={request.status} />{" "}
                  <Link to="/requests" search={{ request: request.trace_id }}>
                    {request.operation === "unknown" ? `${request.method} ${request.path}` : request.operation}
                  </Link>
                  {count > 1 && <span className="quiet"> {count === READ ? `at least ${count} times` : `${count} times`}</span>}
                </span>
                <Meaning request={request} catalogue={catalogue} />
              </li>
            ))}
        </ul>
      )}
    </Panel>
  );
}

type Catalogue = Parameters<typeof entriesOf<{ name: string; code: number; status: number; when: string }>>[0];

/** The message of a response, and its cause in the catalogue of errors if exactly one cause fits. */
function Meaning({ request, catalogue }: { readonly request: Refused; readonly catalogue: Catalogue }) {
  const said = errorIn(request.response_body);
  const [entry, another] = entriesOf(catalogue, { status: request.status, said });
  const message = said?.error_user_msg ?? said?.message;
  const parts = [
    ...(message === undefined ? [] : [message.replace(/\.?$/, ".")]),
    ...(entry === undefined || another !== undefined ? [] : [`It happens when ${entry.when.replaceAll("`", "")}.`]),
  ];
  return <span className="quiet two-lines">{parts.length === 0 ? "The response says no more." : parts.join(" ")}</span>;
}
