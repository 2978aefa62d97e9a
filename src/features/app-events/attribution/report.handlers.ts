/** The report of an app: its events by ad under the reporting model, 1-day view through 28-day click (LIM-12). */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { EventKind } from "../app-events.contract.ts";
import { amountText } from "../intake/amounts.ts";
import { findTouches, findTouchesOfAd, listAds, type StoredTouch } from "./ads.store.ts";
import { type DeviceEvent, devicesOf, findDevice } from "./devices.ts";
import { type Ad, attribute, isClaimable, reporting } from "./rule.ts";

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

/** Touches of one ad in one report. At some 1 ms each an ad takes at most 50 s. */
const TOUCHES_MAX = 50_000;
/** Ads read at once. */
const ADS_PAGE = 1_000;

interface Row extends Omit<ReportRow, "sums"> {
  readonly sums: Map<string, bigint>;
}

/** Reports the events from `since` to `until`, in Unix seconds. Rows are ordered by ad, then by event. */
export async function reportOf(world: World, app: NodeId, since: number, until: number): Promise<ReportRow[]> {
  const { reader } = world.database;
  const rows = new Map<string, Row>();
  const seen = new Set<string>();
  for (const device of await touchedDevices(world, app, since - reporting.click_seconds, until)) {
    const known = await findDevice(world, app, [device]);
    const touches = await findTouches(reader, [...known.ids, ...known.persons, ...known.linked]);
    for (const event of known.events) {
      if (event.time < since || event.time > until || seen.has(event.key)) continue;
      seen.add(event.key);
      const found = attribute(event, known.ids, touches, app, reporting);
      if (found === undefined) continue;
      const row = rowOf(rows, found.touch.ad, event);
      if (found.touch.kind === "click") row.click_through++;
      else row.view_through++;
      if (found.cross_campaign) row.cross_campaign++;
      if (found.cross_device) row.cross_device++;
      if (event.value !== undefined) row.sums.set(event.currency, (row.sums.get(event.currency) ?? 0n) + event.value);
    }
  }
  const keys = [...rows.keys()].sort();
  return keys.map((key) => {
    const { sums, ...row } = rows.get(key) as Row;
    return { ...row, sums: Object.fromEntries([...sums].map(([currency, sum]) => [currency, amountText(sum)])) };
  });
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

/** The devices that may have an attributed event: the devices of touches, and those linked to them by persons. */
async function touchedDevices(world: World, app: NodeId, since: number, until: number): Promise<Set<string>> {
  const { reader } = world.database;
  const devices = new Set<string>();
  const persons = new Set<string>();
  for (const touch of await touchesFor(reader, app, since, until)) {
    for (const identity of touch.identities) (touch.devices.includes(identity) ? devices : persons).add(identity);
  }
  for (const device of [...devices]) for (const person of (await findDevice(world, app, [device])).persons) persons.add(person);
  for (const device of await devicesOf(world, app, [...persons])) devices.add(device);
  return devices;
}

async function touchesFor(reader: Reader, app: NodeId, since: number, until: number): Promise<StoredTouch[]> {
  const touches: StoredTouch[] = [];
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await listAds(reader, { limit: ADS_PAGE, after });
    for (const ad of page.rows) {
      if (isClaimable(ad, app)) touches.push(...(await findTouchesOfAd(reader, ad.id, since, until, TOUCHES_MAX)));
    }
    if (!page.hasNext) return touches;
    after = page.lastKey;
  }
}
