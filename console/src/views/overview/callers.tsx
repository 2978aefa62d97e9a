/** The apps that send requests, with the versions that they use and the ends of these versions. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, dataOf } from "../../api/client.ts";
import type { RequestLine, Tail } from "../../api/tail.ts";
import { Named } from "../../parts/named.tsx";
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
  return (
    <Panel title="Apps" more={<Link to="/versions">Versions</Link>}>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">App</th>
            <th scope="col" className="number">
              Requests
            </th>
            <th scope="col" className="number">
              Refused
            </th>
            <th scope="col" className="number">
              Failed
            </th>
            <th scope="col">Versions</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {callers.map(({ app, count, refused, failed, versions, last }) => (
            <tr key={app ?? ""}>
              <td>{app === undefined ? "without an app" : <Named kind="apps" id={app} />}</td>
              <td className="number">
                {app === undefined ? (
                  count.toLocaleString("en")
                ) : (
                  <Link to="/requests" search={{ app }}>
                    {count.toLocaleString("en")}
                  </Link>
                )}
              </td>
              <td className={`number ${refused > 0 ? "warn" : "quiet"}`}>{refused > 0 ? `! ${refused}` : "0"}</td>
              <td className={`number ${failed > 0 ? "bad" : "quiet"}`}>{failed > 0 ? `✕ ${failed}` : "0"}</td>
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
    </Panel>
  );
}
