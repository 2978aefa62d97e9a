/** A device: its touches of ads, the events of its person, and the attribution of the events. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { listNodes } from "../../api/graph/nodes.ts";
import { act } from "../../parts/notices.tsx";
import { Block, Problem, WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { DeviceTimeline } from "./device-timeline.tsx";
import { type DeviceView, eventText, readDevice, touchText } from "./devices.ts";

interface FindDeviceProps {
  readonly device: string | undefined;
  readonly onFind: (device: string | undefined) => void;
}

export function FindDevice({ device, onFind }: FindDeviceProps) {
  const [typed, type] = useState(device ?? "");
  const find = (event: FormEvent): void => {
    event.preventDefault();
    onFind(typed.trim() === "" ? undefined : typed.trim());
  };
  return (
    <form className="actions" onSubmit={find}>
      <label>
        Device <input value={typed} placeholder="an advertising id" onChange={({ target }) => type(target.value)} />
      </label>
      <button type="submit">Show attribution</button>
      {device !== undefined && (
        <button type="button" onClick={() => onFind(undefined)}>
          All events
        </button>
      )}
    </form>
  );
}

interface DeviceProps {
  readonly app: string;
  readonly device: string;
  /** The number of events of the app. The device is read again when this number changes. */
  readonly seen: number;
}

export function Device({ app, device, seen }: DeviceProps) {
  const w = useWorld();
  const now = useWorldNow(w)?.now;
  const { data, error } = useQuery({
    queryKey: ["device", w, app, device, seen],
    queryFn: () => readDevice(w, app, device),
    placeholderData: (before) => before,
  });
  if (error !== null) return <Problem error={error} />;
  if (data === undefined || now === undefined) return null;
  return (
    <section className="scroll" aria-label={`Attribution of the device ${device}`} tabIndex={0}>
      <Block isOwn title={`Attribution of ${device}`}>
        {data.touches.length + data.events.length === 0 ? (
          <p className="quiet">
            No clicks, views or events of this device yet. An app sends events to <code>/{app}/activities</code> with this <code>advertiser_id</code>.
            You can record a click or a view below.
          </p>
        ) : (
          <DeviceTimeline device={data} now={now} />
        )}
        <RecordTouch device={device} />
      </Block>
      {data.events.length > 0 && (
        <Block isOwn title="Events, the newest first">
          <Events device={data} />
        </Block>
      )}
      {data.ids.length > 1 && (
        <Block isOwn title="Ids">
          <p>
            These ids are one device, because a request, click or view had them together: {data.ids.map((id) => id.replace(":", " ")).join(", ")}.
          </p>
        </Block>
      )}
    </section>
  );
}

function Events({ device: { events, touches } }: { readonly device: DeviceView }) {
  const byId = new Map(touches.map((touch) => [touch.id, touch]));
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Event</th>
          <th scope="col">Attributed to</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => {
          const touch = event.due_to === undefined ? undefined : byId.get(event.due_to);
          return (
            <tr key={event.key}>
              <td>
                <WorldTime seconds={event.event_time} isLong />
              </td>
              <td>{eventText(event)}</td>
              <td>
                {touch === undefined ? (
                  <span className="quiet">{event.tracked ? "no ad" : "no ad, because its tracking is off"}</span>
                ) : (
                  <span className="good">
                    ✓ {touchText(touch)}, campaign {touch.campaign_id}
                  </span>
                )}
              </td>
              <td>
                {[event.cross_campaign === true ? "attributed to an ad of another app" : "", event.cross_device === true ? "on another device" : ""]
                  .filter((text) => text !== "")
                  .join(", ")}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Records a click or a view of an ad on this device at the present time. */
function RecordTouch({ device }: { readonly device: string }) {
  const w = useWorld();
  const client = useQueryClient();
  const ads = useQuery({ queryKey: ["nodes", w, "ads", "device"], queryFn: () => listNodes(w, "ads", undefined) }).data?.data ?? [];
  const [chosen, choose] = useState<string>();
  const ad = chosen ?? (ads[0] === undefined ? undefined : String(ads[0].id));
  if (ad === undefined) return <p className="quiet">There is no ad. Create one in the graph to record clicks and views.</p>;
  const record = (done: string, edge: "clicks" | "impressions") =>
    act(done, async () => {
      await dataOf(api.POST(`/v1/worlds/{w}/attribution/${edge}`, { params: { path: { w } }, body: { ad, advertiser_id: device } }));
      await client.invalidateQueries({ queryKey: ["device", w] });
    });
  return (
    <div className="actions">
      <label>
        Ad{" "}
        <select value={ad} onChange={({ target }) => choose(target.value)}>
          {ads.map(({ id, campaign_id }) => (
            <option key={String(id)} value={String(id)}>
              {String(id)} of campaign {String(campaign_id)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => void record("A click was recorded", "clicks")}>
        Record a click now
      </button>
      <button type="button" onClick={() => void record("A view was recorded", "impressions")}>
        Record a view now
      </button>
    </div>
  );
}
