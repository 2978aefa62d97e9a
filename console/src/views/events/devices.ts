/** Types and texts for the devices that the control API returns. */
import type { paths } from "../../../generated/control-api.d.ts";
import { api, dataOf } from "../../api/client.ts";

const PATH = "/v1/worlds/{w}/app-events/{app}/device";
type Read = paths[typeof PATH]["get"]["responses"][200]["content"]["application/json"];

export type Touch = Read["touches"][number];
export type DeviceEvent = Read["events"][number] & { readonly key: number };
export interface DeviceView {
  readonly ids: readonly string[];
  readonly touches: readonly Touch[];
  readonly events: readonly DeviceEvent[];
}

/** Reads a device. The events of a device get keys that count from the oldest event in the response. */
export async function readDevice(w: string, app: string, advertiser_id: string): Promise<DeviceView> {
  const device = await dataOf(api.GET(PATH, { params: { path: { w, app }, query: { advertiser_id } } }));
  return { ...device, events: device.events.map((event, at, { length }) => ({ ...event, key: length - at })) };
}

export const touchText = ({ kind, ad_id }: Touch): string => (kind === "click" ? `click on ad ${ad_id}` : `view of ad ${ad_id}`);

const NAMES: Readonly<Record<string, string>> = { MOBILE_APP_INSTALL: "install", DEFERRED_APP_LINK: "deferred link" };
export const eventText = ({ event, event_name }: DeviceEvent): string => event_name ?? NAMES[event] ?? event;
