import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/**
 * Events that are attributed to ads, by the attribution model of ads reporting. The report is read again when `seen`, the number of events, changes.
 */
export function AdReport({ app, seen }: { readonly app: string; readonly seen: number }) {
  const w = useWorld();
  const rows = useQuery({
    queryKey: ["ad-report", w, app, seen],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/app-events/{app}/report", { params: { path: { w, app }, query: {} } })),
    placeholderData: (before) => before,
  }).data?.data;
  if (rows === undefined || rows.length === 0) return null;
  return (
    <Block isOwn title="Attributed to ads">
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Ad</th>
            <th scope="col">Event</th>
            <th scope="col">After a click</th>
            <th scope="col">After a view</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ ad_id, event, event_name, click_through, view_through }) => (
            <tr key={`${ad_id} ${event} ${event_name}`}>
              <td>{ad_id}</td>
              <td>{event_name ?? event}</td>
              <td>{click_through}</td>
              <td>{view_through}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Block>
  );
}
