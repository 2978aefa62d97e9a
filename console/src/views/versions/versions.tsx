import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, dataOf } from "../../api/client.ts";
import { Named } from "../../parts/named.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { setClock } from "../../shell/clock-actions.ts";
import { useWorld } from "../../shell/world.ts";
import { Lifetimes } from "./lifetimes.tsx";

const route = getRouteApi("/versions");
const DAY = 86_400;

const isoDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** The lifetimes of versions, and the effect that a later date would have on the latest requests. */
export function Versions() {
  const w = useWorld();
  const navigate = route.useNavigate();
  const { at } = route.useSearch();
  const now = useWorldNow(w)?.now;
  const { data: calendar } = useQuery({
    queryKey: ["versions", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/versions", { params: { path: { w } } })),
  });
  const day = at ?? (now === undefined ? undefined : isoDay(now + 365 * DAY));
  const { data: outlook } = useQuery({
    queryKey: ["outlook", w, day],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/versions/outlook", { params: { path: { w }, query: { at: `${day}T00:00:00Z` } } })),
    enabled: day !== undefined,
  });
  if (calendar === undefined || now === undefined || day === undefined) return null;
  const used = outlook?.data ?? [];
  const look = (on: string): void => void navigate({ search: (before) => ({ ...before, at: on || undefined }), replace: true });
  const changed = used.filter(({ served_now, served_then }) => served_now !== served_then);
  return (
    <div className="scroll">
      <Block isOwn title="The apps' requests on a date">
        <div className="actions">
          <label>
            On <input type="date" value={day} onChange={({ target }) => look(target.value)} />
          </label>
          {turnsOf(calendar, now).map(({ on, text }) => (
            <button type="button" key={text} aria-pressed={on === day} onClick={() => look(on)}>
              {text}
            </button>
          ))}
          <button type="button" onClick={() => void setClock(w, Date.parse(`${day}T00:00:00Z`) / 1000)}>
            Move the world's clock to this date
          </button>
        </div>
        {used.length === 0 && <p className="quiet">No app has sent a request yet. The last 1,000 requests count.</p>}
        {used.length > 0 && changed.length === 0 && <p className="good">✓ On that day every request would be served by the same version.</p>}
        {used.length > 0 && <Outlook used={used} day={day} />}
      </Block>
      <Block isOwn title="Versions of marketing operations">
        <Lifetimes versions={calendar.marketing} now={now} chosen={Date.parse(`${day}T00:00:00Z`) / 1000} />
        <Changes versions={calendar.marketing} />
      </Block>
      <Block isOwn title="Versions of all other operations">
        <Lifetimes versions={calendar.platform} now={now} chosen={Date.parse(`${day}T00:00:00Z`) / 1000} />
      </Block>
      {calendar.migrations.length > 0 && (
        <Block isOwn title="Migrations">
          <ul>
            {calendar.migrations.map(({ name, start, end }) => (
              <li key={name}>
                {name}: optional for apps from {isoDay(start)}, on for all apps from {isoDay(end)}
              </li>
            ))}
          </ul>
        </Block>
      )}
    </div>
  );
}

interface Calendar {
  readonly marketing: readonly { readonly version: string; readonly released: number; readonly until?: number | undefined }[];
  readonly platform: readonly { readonly version: string; readonly released: number }[];
  readonly migrations: readonly { readonly name: string; readonly end: number }[];
}

/** The coming changes for apps. Each change is listed with the first whole day after the change. */
function turnsOf({ marketing, platform, migrations }: Calendar, now: number): readonly { readonly on: string; readonly text: string }[] {
  const turns = [
    ...marketing.flatMap(({ version, until }) => (until === undefined ? [] : [{ at: until, what: `marketing ${version} ends` }])),
    ...marketing.map(({ version, released }) => ({ at: released, what: `marketing ${version} is released` })),
    ...platform.map(({ version, released }) => ({ at: released, what: `${version} is released` })),
    ...migrations.map(({ name, end }) => ({ at: end, what: `${name} is on for all apps` })),
  ];
  return turns
    .filter(({ at }) => at > now)
    .sort((a, b) => a.at - b.at)
    .map(({ at, what }) => ({ on: isoDay(Math.ceil(at / DAY) * DAY), text: `${isoDay(at)} ${what}` }));
}

/** The changes that each version brings. */
function Changes({ versions }: { readonly versions: readonly { readonly version: string; readonly affects: readonly string[] }[] }) {
  const changed = versions.filter(({ affects }) => affects.length > 0);
  if (changed.length === 0) return null;
  return (
    <details>
      <summary>Changes by version</summary>
      <ul>
        {changed.map(({ version, affects }) => (
          <li key={version}>
            <span className="mono">{version}</span>: {affects.join(", ")}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface OutlookProps {
  readonly used: readonly {
    readonly app: string;
    readonly operation: string;
    readonly asked?: string | undefined;
    readonly count: number;
    readonly served_now?: string | undefined;
    readonly served_then?: string | undefined;
    readonly refusal?: string | undefined;
  }[];
  readonly day: string;
}

function Outlook({ used, day }: OutlookProps) {
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">App</th>
          <th scope="col">Operation</th>
          <th scope="col">Requested</th>
          <th scope="col" className="number">
            Requests
          </th>
          <th scope="col">Served now</th>
          <th scope="col">On {day}</th>
        </tr>
      </thead>
      <tbody>
        {used.map(({ app, operation, asked, count, served_now, served_then, refusal }) => (
          <tr key={`${app} ${operation} ${asked}`}>
            <td>
              <Named kind="apps" id={app} />
            </td>
            <td>{operation}</td>
            <td>{asked ?? "none"}</td>
            <td className="number">{count}</td>
            <td>{served_now ?? "refused"}</td>
            <td>
              {served_then === undefined ? (
                <span className="bad">✕ {refusal}</span>
              ) : served_then === served_now ? (
                <span className="good">✓ {served_then}</span>
              ) : (
                <span className="warn">! upgraded to {served_then}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
