/** Compares the app events that operators see in the server to the app events in the model. */
import type { EventsStep } from "../../histories/steps.ts";
import { eventsOf } from "../../reference/areas/app-events.ts";
import { type ReportRow, reportOf } from "../../reference/attribution.ts";
import { differenceOf } from "../compare.ts";
import type { Scene, Stage } from "../scene.ts";

interface DaySum {
  readonly day: string;
  readonly event: string;
  readonly event_name?: string;
  readonly currency: string;
  readonly count: number;
  readonly sum?: string;
}

/** The millionths in a decimal number. A sum of event values may be larger than any single value. */
function millionths(text: string): bigint {
  const [whole = "", rest = ""] = text.split(".");
  return BigInt(whole + rest.padEnd(6, "0"));
}

/** A time after all times that histories use. */
const LATE = 253_402_300_799; // 9999-12-31

/** Compares an app's events as the operator sees them, after the operator has deactivated a name. */
export async function lookAtEvents(stage: Stage, scene: Scene, { app, deactivate, since }: EventsStep): Promise<string | undefined> {
  const { world, place } = scene;
  const events = eventsOf(world, app);
  const path = `worlds/${place}/app-events/${app}`;
  if (deactivate !== undefined) {
    const { status } = await stage.servers.control("POST", `${path}/names/${encodeURIComponent(deactivate)}/deactivate`);
    stage.servers.noteFact(place);
    const expected = events.names.has(deactivate) ? 200 : 404;
    if (status !== expected) return `deactivating ${deactivate} is ${status}, not ${expected}`;
    if (expected === 200) events.names.set(deactivate, "deactivated");
  }
  const { body } = await stage.servers.control("GET", `${path}/sums?since=0&until=${LATE}`);
  const shown = ({ day, event, event_name = "", currency, count, sum }: DaySum) =>
    `${day} ${event} ${event_name} ${currency}: ${count}, ${sum === undefined ? undefined : millionths(sum)}`;
  const actual = (body as { data: DaySum[] }).data.map(shown).sort();
  const expected = [...events.sums].map(([key, { count, sum }]) => `${key}: ${count}, ${sum}`).sort();
  world.reach("eventSums");
  return differenceOf(expected, actual, `sums of ${app}`) ?? lookAtReport(stage, scene, { app, since });
}

type ShownRow = Omit<ReportRow, "sums"> & { readonly sums: Readonly<Record<string, string>> };

/** LIM-12: compares the report about the results of ads for the app. */
async function lookAtReport(
  { servers }: Stage,
  { world, place }: Scene,
  { app, since }: Pick<EventsStep, "app" | "since">,
): Promise<string | undefined> {
  const { body } = await servers.control("GET", `worlds/${place}/app-events/${app}/report?since=${since}&until=${LATE}`);
  const exact = ({ sums, ...row }: ShownRow): ReportRow => ({
    ...row,
    sums: Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, millionths(sum)])),
  });
  const inWords = ({ sums, ...row }: ReportRow): string => {
    const ofCurrencies = Object.entries(sums).map(([currency, sum]) => `${currency} ${sum}`);
    return JSON.stringify([...Object.entries(row), ...ofCurrencies].map(String).sort());
  };
  const actual = (body as { data: ShownRow[] }).data.map(exact).map(inWords);
  return differenceOf(reportOf(world, app, since, LATE).map(inWords).sort(), actual.sort(), `report of ${app}`);
}
