/** The apps that send requests, with the versions that they use and the ends of these versions. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, dataOf } from "../../api/client.ts";
import { listNodes } from "../../api/graph/nodes.ts";
import type { RequestLine, Tail } from "../../api/tail.ts";
import { WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { Panel } from "./panel.tsx";

const SHOWN = 10;
const DAY = 86_400;
/** The number of days before a version's end from which the panel announces the end. */
const SOON_DAYS = 90;

interface Caller {
  readonly app: string | undefined;
  readonly count: number;
  readonly refused: number;
  readonly failed: number;
  readonly versions: readonly string[];
  readonly last: RequestLine;
}

const versionOf = ({ path }: RequestLine): string => /^\/(?:w\/[^/]+\/)?(v\d+\.\d+)\//.exec(path)?.[1] ?? "none";

const callersOf = (lines: readonly RequestLine[]): readonly Caller[] =>
  [...Map.groupBy(lines, ({ app }) => app)]
    .map(([app, all]) => ({
      app,
      count: all.length,
      refused: all.filter(({ status }) => status >= 400 && status < 500).length,
      failed: all.filter(({ status }) => status >= 500).length,
      versions: [...new Set(all.map(versionOf))].sort(),
      last: all[0] as RequestLine,
    }))
    .sort((one, other) => other.count - one.count)
    .slice(0, SHOWN);

/** The versions of apps that a day's changes affect, as `app version`. */
function useChanges(w: string, day: string | undefined, uses: string): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: ["outlook", w, day, uses],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/versions/outlook", { params: { path: { w }, query: { at: `${day}T00:00:00Z` } } })),
    enabled: day !== undefined && uses !== "",
    placeholderData: (before) => before,
  });
  return useMemo(
    () => new Set(data?.data.filter(({ served_now, served_then }) => served_now !== served_then).map(({ app, asked = "none" }) => `${app} ${asked}`)),
    [data],
  );
}

export function Callers({ tail: { lines } }: { readonly tail: Tail }) {
  const w = useWorld();
  const now = useWorldNow(w)?.now;
  const callers = useMemo(() => callersOf(lines), [lines]);
  const day = now === undefined ? undefined : new Date((now + SOON_DAYS * DAY) * 1000).toISOString().slice(0, 10);
  const uses = callers.map(({ app, versions }) => `${app} ${versions}`).sort();
  const changes = useChanges(w, day, uses.join());
  const apps = useQuery({ queryKey: ["nodes", w, "apps", "names"], queryFn: () => listNodes(w, "apps", undefined) }).data?.data;
  const nameOf = (id: string): string => String(apps?.find((one) => one.id === id)?.name ?? "");
  return (
    <Panel title="Apps" more={<Link to="/versions">Versions</Link>}>
      {callers.length === 0 && <p className="quiet">No app has sent a request yet. Apps appear here with their versions.</p>}
      {callers.length > 0 && (
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">App</th>
              <th scope="col">Requests</th>
              <th scope="col">Refused</th>
              <th scope="col">Failed</th>
              <th scope="col">Versions</th>
              <th scope="col">Last</th>
            </tr>
          </thead>
          <tbody>
            {callers.map(({ app, count, refused, failed, versions, last }) => (
              <tr key={app ?? ""}>
                <td>
                  {app === undefined ? (
                    "without an app"
                  ) : (
                    <Link to="/requests" search={{ app }}>
                      {app} {nameOf(app)}
                    </Link>
                  )}
                </td>
                <td>{count.toLocaleString("en")}</td>
                <td className={refused > 0 ? "warn" : "quiet"}>{refused > 0 ? `! ${refused}` : "0"}</td>
                <td className={failed > 0 ? "bad" : "quiet"}>{failed > 0 ? `✕ ${failed}` : "0"}</td>
                <td>
                  {versions.map((version) => (
                    <span key={version}>
                      <span className="mono">{version}</span>{" "}
                      {changes.has(`${app} ${version}`) && day !== undefined && (
                        <Link to="/versions" search={{ at: day }}>
                          changes within {SOON_DAYS} days
                        </Link>
                      )}{" "}
                    </span>
                  ))}
                </td>
                <td>
                  <WorldTime seconds={last.time} />{" "}
                  <Link to="/requests" search={{ request: last.trace_id }}>
                    {last.operation === "unknown" ? `${last.method} ${last.path}` : last.operation}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
