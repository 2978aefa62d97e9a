/** The index of app events as an older program wrote it on SQLite, in a run, which the fixtures do not reach (README.md). */
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { endAll, newFolder, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";
import { COOKIE, EVENTS, PHONE, RUNS_FOLDER, report } from "./event-runs.ts";

afterEach(endAll);

function openData(): string {
  const data = newFolder();
  writeFileSync(join(data, "default.sqlite"), gunzipSync(readFileSync(join(RUNS_FOLDER, "default.sqlite.gz"))));
  copyFileSync(join(RUNS_FOLDER, "secret.key"), join(data, "secret.key"));
  return data;
}

interface Row {
  readonly event: string;
  readonly event_name?: string;
  readonly cross_device: boolean;
}

async function rowsOf({ ready }: RunningPlaza, query: string): Promise<Row[]> {
  const response = await fetch(`${ready.base_url}/v26.0/1001/app_attribution?${query}`, { headers: { authorization: "Bearer 1001|shop-secret" } });
  return ((await response.json()) as { data: Row[] }).data;
}

const namesOf = (rows: readonly Row[]) => rows.map(({ event, event_name }) => event_name ?? event);

/** Newest first. */
const OF_PHONE = ["last", "behind the run", "second of two", "upper case", "with person", "by cookie", "tied", "MOBILE_APP_INSTALL"];

test("a run of an older program leads to the events of a device, what ties it, and duplicates; so do the runs and requests after it", async () => {
  const plaza = await startPlaza(["--data", openData()]);
  for (const device of [`advertiser_id=${PHONE}`, `advertiser_id=${PHONE.toUpperCase()}`, `attribution=${COOKIE}`]) {
    const rows = await rowsOf(plaza, device);
    expect(namesOf(rows)).toEqual(OF_PHONE);
    // The click was on the tablet of the same person.
    expect(rows.every(({ cross_device }) => cross_device)).toBeTrue();
    expect(namesOf(await rowsOf(plaza, `${device}&event=MOBILE_APP_INSTALL`))).toEqual(["MOBILE_APP_INSTALL"]);
    expect(namesOf(await rowsOf(plaza, `${device}&limit=3`))).toEqual(OF_PHONE.slice(0, 3));
  }
  expect(namesOf(await rowsOf(plaza, "advertiser_id=tablet"))).toEqual(["on the tablet"]);
  for (const other of ["stranger", "untracked", "bulk"]) expect(await rowsOf(plaza, `advertiser_id=${other}`)).toEqual([]);
  const countOf = async () => {
    const { data } = (await plaza.control("GET", "app-events/1001/names")).body as { data: { name: string; count: number }[] };
    return data.reduce((sum, { count }) => sum + count, 0);
  };
  const before = await countOf();
  for (const one of EVENTS) await report(plaza, one);
  expect(await countOf()).toBe(before);
  const other = "zyxwvutsrq9876543210ZY";
  await report(plaza, { event: "CUSTOM_APP_EVENTS", advertiser_id: PHONE, attribution: other, custom_events: [{ _eventName: "new" }] });
  expect(namesOf(await rowsOf(plaza, `attribution=${other}`))).toEqual(["new", ...OF_PHONE]);
  expect((await plaza.end()).code).toBe(0);
});
