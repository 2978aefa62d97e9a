/**
 * The edges, fields and versions that programs asked for and that Plaza does not have. Only a sandbox lists the names that Plaza does not
 * have.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, dataOf } from "../../api/client.ts";
import type { Tail } from "../../api/tail.ts";
import { Named } from "../../parts/named.tsx";
import { countOf, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { Panel } from "./panel.tsx";

const SHOWN = 10;

const readUnserved = (w: string) => dataOf(api.GET("/v1/worlds/{w}/unserved", { params: { path: { w } } }));
type Unserved = Awaited<ReturnType<typeof readUnserved>>["data"][number];

const textOf = ({ kind, name, method, of }: Unserved): string =>
  kind === "edge" ? `${method} ${name}` : kind === "field" ? `${name} of ${of}` : `version ${name}`;

/** The name that the program perhaps meant, or how Plaza serves the edge. */
const adviceOf = ({ did_you_mean, hint }: Unserved): string => (did_you_mean === undefined ? (hint ?? "") : `Did you mean ${did_you_mean}?`);

export function NotServed({ tail: { lines } }: { readonly tail: Tail }) {
  const w = useWorld();
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: ["unserved", w], queryFn: () => readUnserved(w) });
  const newest = lines[0]?.trace_id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read anew when there are more requests.
  useEffect(() => void client.invalidateQueries({ queryKey: ["unserved", w] }), [client, w, newest]);
  if (data === undefined || data.data.length === 0) return null;
  const hidden = data.data.length - SHOWN;
  return (
    <Panel title="Not served">
      <p className="quiet">Your programs asked for {countOf(data.data.length, "thing")} that Plaza does not have.</p>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="number">
              Times
            </th>
            <th scope="col">Apps</th>
            <th scope="col">Last</th>
            <th scope="col">Advice</th>
          </tr>
        </thead>
        <tbody>
          {data.data.slice(0, SHOWN).map((one) => (
            <tr key={textOf(one)}>
              <td>
                <Link to="/requests" search={{ request: one.trace_id }}>
                  {textOf(one)}
                </Link>
              </td>
              <td className="number">{one.count.toLocaleString("en")}</td>
              <td>
                {one.apps.map((id) => (
                  <Named key={id} kind="apps" id={id} />
                ))}
              </td>
              <td>
                <WorldTime seconds={one.last_time} />
              </td>
              <td>{adviceOf(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && <p className="quiet">{countOf(hidden, "other name")}: plaza status --json lists all of them.</p>}
    </Panel>
  );
}
