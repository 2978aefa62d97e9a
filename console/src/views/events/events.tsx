import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { paths } from "../../../generated/control-api.d.ts";
import { api, dataOf } from "../../api/client.ts";
import { follow } from "../../api/events.ts";
import { listNodes } from "../../api/graph/nodes.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Chart } from "../../parts/lazy.tsx";
import { Block, Empty, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { AdReport } from "./ad-report.tsx";
import { Device, FindDevice } from "./device.tsx";
import { ExportLog } from "./export-log.tsx";
import { NameState } from "./name-state.tsx";

const route = getRouteApi("/events");
const KEPT = 1_000;

const PATH = "/v1/worlds/{w}/app-events/{app}/test-events";
/** The response of the route as JSON. The route also streams events at the same address if the Accept header asks for a stream. */
type Read = paths[typeof PATH]["get"]["responses"][200]["content"]["application/json"];
const readTestEvents = (w: string, app: string) => dataOf(api.GET(PATH, { params: { path: { w, app } } })) as Promise<Read>;
type TestEvent = Read["data"][number] & { readonly key: string };

const VERDICTS: Readonly<Record<string, readonly [className: string, sign: string]>> = {
  accepted: ["good", "✓"],
  invalid: ["warn", "≠"],
  duplicate: ["warn", "="],
  refused: ["bad", "✕"],
};

const columns: readonly Column<TestEvent>[] = [
  { id: "time", title: "Time", width: "72px", cell: ({ received_time }) => <WorldTime seconds={received_time} /> },
  {
    id: "verdict",
    title: "Verdict",
    width: "104px",
    cell: ({ verdict }) => (
      <span className={VERDICTS[verdict]?.[0]}>
        <span aria-hidden="true">{VERDICTS[verdict]?.[1]}</span> {verdict}
      </span>
    ),
  },
  { id: "event", title: "Event", width: "minmax(120px, 1fr)", cell: ({ event, event_name }) => event_name ?? event },
  { id: "id", title: "Event id", width: "minmax(80px, 1fr)", cell: ({ event_id }) => <span className="mono">{event_id ?? ""}</span> },
  { id: "reason", title: "Reason", width: "minmax(80px, 2fr)", cell: ({ reason }) => reason ?? "" },
];
const idOf = ({ key }: TestEvent): string => key;

/** Returns the events that are not in `listed` yet. Events have no ids, so they are compared by their JSON. */
function withoutThose(events: readonly TestEvent[], listed: readonly object[]): readonly TestEvent[] {
  const known = new Set(listed.map((one) => JSON.stringify(one)));
  return events.filter(({ key: _, ...one }) => !known.has(JSON.stringify(one)));
}

/** The latest events of an app, and each new event as it comes, with its verdict. */
function useTestEvents(w: string, app: string | undefined): readonly TestEvent[] {
  const [events, setEvents] = useState<readonly TestEvent[]>([]);
  useEffect(() => {
    if (app === undefined) return;
    let count = 0;
    const keyed = (one: Omit<TestEvent, "key">): TestEvent => ({ ...one, key: String(count++) });
    setEvents([]);
    const readLast = (): void =>
      void readTestEvents(w, app).then(
        ({ data }) => setEvents((newer) => [...withoutThose(newer, data), ...data.map(keyed)]),
        () => {},
      );
    readLast();
    return follow({
      connected: readLast,
      address: () => `/v1/worlds/${encodeURIComponent(w)}/app-events/${app}/test-events`,
      take: ({ data }) => setEvents((before) => [keyed(JSON.parse(data) as TestEvent), ...before].slice(0, KEPT)),
      state() {},
    });
  }, [w, app]);
  return events;
}

export function Events() {
  const w = useWorld();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const apps = useQuery({ queryKey: ["nodes", w, "apps", "events"], queryFn: () => listNodes(w, "apps", undefined) }).data?.data;
  const app = search.app ?? (apps?.[0] === undefined ? undefined : String(apps[0].id));
  const events = useTestEvents(w, app);
  const [chosen, choose] = useState<string>();
  if (apps === undefined) return null;
  if (app === undefined)
    return (
      <Empty title="No app yet">
        <p>
          Events come from an app.{" "}
          <Link to="/graph" search={({ world }) => ({ world, kind: "apps", id: "new" })}>
            Create an app
          </Link>
        </p>
      </Empty>
    );
  return (
    <>
      <div className="bar">
        <label>
          App
          <select value={app} onChange={({ target }) => void navigate({ search: (before) => ({ ...before, app: target.value }), replace: true })}>
            {apps.map((one) => (
              <option key={String(one.id)} value={String(one.id)}>
                {String(one.name ?? one.id)}
              </option>
            ))}
          </select>
        </label>
        <FindDevice
          key={search.device}
          device={search.device}
          onFind={(device) => void navigate({ search: (before) => ({ ...before, device }), replace: true })}
        />
        <span className="quiet">Events appear here as they arrive, each with its verdict.</span>
        <span className="space" />
        <ExportLog app={app} />
      </div>
      {search.device !== undefined ? (
        <Device app={app} device={search.device} seen={events.length} />
      ) : (
        <div className="events-view">
          {events.length === 0 ? (
            <Empty title="No event yet">
              <p>
                An app sends events to <code>/{app}/activities</code>; the explorer has it as a form.
              </p>
            </Empty>
          ) : (
            <DataTable
              label="Events of the App channel, the newest first"
              columns={columns}
              rows={events}
              idOf={idOf}
              chosen={chosen}
              onChoose={choose}
            />
          )}
          <Sums app={app} seen={events.length} />
        </div>
      )}
    </>
  );
}

/** The counts of an app's events. The counts are read again when `seen`, the number of events, changes. */
function Sums({ app, seen }: { readonly app: string; readonly seen: number }) {
  const w = useWorld();
  const params = { path: { w, app } };
  const names = useQuery({
    queryKey: ["event-names", w, app, seen],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/app-events/{app}/names", { params })),
    placeholderData: (before) => before,
  }).data;
  const sums = useQuery({
    queryKey: ["event-sums", w, app, seen],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/app-events/{app}/sums", { params: { ...params, query: {} } })),
    placeholderData: (before) => before,
  }).data;
  const { times, series } = useMemo(() => {
    const byDay = Map.groupBy(sums?.data ?? [], ({ day }) => day);
    const days = [...byDay.keys()].sort();
    const counts = days.map((day) => (byDay.get(day) ?? []).reduce((sum, { count }) => sum + count, 0));
    return {
      times: days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000),
      series: [{ label: "events", colour: "--accent", values: counts, isPoints: counts.length === 1 }],
    };
  }, [sums]);
  if (names === undefined || names.data.length === 0) return null;
  return (
    <section className="scroll" aria-label="Names and sums" tabIndex={0}>
      <Block isOwn title="Names">
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Count</th>
              <th scope="col">Sum</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {names.data.map(({ name, count, sums: amounts, active, standard }) => (
              <tr key={name}>
                <td>
                  {name} {standard && <span className="quiet">standard</span>}
                </td>
                <td>{count}</td>
                <td>
                  {Object.entries(amounts)
                    .map(([currency, sum]) => `${sum} ${currency}`)
                    .join(", ")}
                </td>
                <td>
                  <NameState app={app} name={name} isActive={active} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Block>
      <AdReport app={app} seen={seen} />
      {times.length > 0 && (
        <Block isOwn title="Events a day">
          <Chart label={`Events a day, on ${times.length} days`} times={times} series={series} unit="" />
        </Block>
      )}
    </section>
  );
}
