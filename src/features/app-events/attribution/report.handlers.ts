/** The report of an app: its events by ad under the reporting model, 1-day view through 28-day click (LIM-12). */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { EventKind } from "../app-events.contract.ts";
import { amountText } from "../intake/amounts.ts";
import { isDevice } from "../intake/identities.ts";
import { listAds, touchesOfAd } from "./ads.store.ts";
import { type DeviceEvent, devicesOf, eventsOf, findDevice, follow } from "./devices.ts";
import { type Ad, type Attribution, attribute, isClaimable, reporting } from "./rule.ts";

export interface ReportRow {
  readonly ad_id: string;
  readonly campaign_id: string;
  readonly event: EventKind;
  /** Only for custom events. */
  readonly event_name?: string;
  /** The number of events attributed to a click. */
  click_through: number;
  /** The number of events attributed to an impression. */
  view_through: number;
  cross_campaign: number;
  cross_device: number;
  /** Decimal, by currency; the key is empty for sums without one. */
  readonly sums: Readonly<Record<string, string>>;
}

/** Ads read at once. */
const ADS_PAGE = 1_000;
/** Events read at once. */
const ROWS_AT_ONCE = 1_000;

interface Row extends Omit<ReportRow, "sums"> {
  readonly sums: Map<string, bigint>;
}

/** Reports the events from `since` to `until`, in Unix seconds. Rows are ordered by ad, then by event. */
export async function reportOf(world: World, app: NodeId, since: number, until: number): Promise<ReportRow[]> {
  const rows = new Map<string, Row>();
  const seen = new Set<string>();
  for (const id of await touchedDevices(world, app, since - reporting.click_seconds, until)) {
    if (seen.has(id)) continue;
    const device = await findDevice(world, app, [id]);
    for (const one of device.ids) seen.add(one);
    const wanted = { ids: device.ids, times: { first: since, last: until }, count: ROWS_AT_ONCE };
    for await (const event of eventsOf(world, app, wanted)) {
      const found = attribute(event, device.ids, device.touches, app, reporting);
      if (found !== undefined) count(rowOf(rows, found.touch.ad, event), event, found);
    }
  }
  const keys = [...rows.keys()].sort();
  return keys.map((key) => {
    const { sums, ...row } = rows.get(key) as Row;
    return { ...row, sums: Object.fromEntries([...sums].map(([currency, sum]) => [currency, amountText(sum)])) };
  });
}

function count(row: Row, { value, currency }: DeviceEvent, { touch, cross_campaign, cross_device }: Attribution): void {
  if (touch.kind === "click") row.click_through++;
  else row.view_through++;
  if (cross_campaign) row.cross_campaign++;
  if (cross_device) row.cross_device++;
  if (value !== undefined) row.sums.set(currency, (row.sums.get(currency) ?? 0n) + value);
}

function rowOf(rows: Map<string, Row>, ad: Ad, { kind, name }: DeviceEvent): Row {
  const key = `${ad.id.padStart(20, "0")} ${name}`;
  let row = rows.get(key);
  if (row === undefined) {
    const counts = { click_through: 0, view_through: 0, cross_campaign: 0, cross_device: 0 };
    const named = kind === "CUSTOM_APP_EVENTS" ? { event_name: name } : {};
    row = { ad_id: ad.id, campaign_id: ad.campaign_id, event: kind, ...named, ...counts, sums: new Map() };
    rows.set(key, row);
  }
  return row;
}

/** Ids of the devices that may have an attributed event: the devices of touches, and those linked to them by persons. */
async function touchedDevices(world: World, app: NodeId, since: number, until: number): Promise<Set<string>> {
  const touched = await touchedIdentities(world.database.reader, app, since, until);
  const { ids, persons } = await follow(world, app, touched.filter(isDevice));
  const linked = await devicesOf(world, app, [...new Set([...persons, ...touched.filter((identity) => !isDevice(identity))])]);
  return new Set([...ids, ...linked]);
}

async function touchedIdentities(reader: Reader, app: NodeId, since: number, until: number): Promise<string[]> {
  const found = new Set<string>();
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await listAds(reader, { limit: ADS_PAGE, after });
    for (const ad of page.rows) {
      if (!isClaimable(ad, app)) continue;
      for await (const { identities } of touchesOfAd(reader, ad.id, since, until)) for (const identity of identities) found.add(identity);
    }
    if (!page.hasNext) return [...found];
    after = page.lastKey;
  }
}
