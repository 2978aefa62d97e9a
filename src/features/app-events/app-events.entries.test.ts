/** Tests the log entry of an event without optional parts, and the sums of days with installs. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { listDaySums, logEntry } from "./app-events.control.ts";
import { addSums, type EventRow } from "./log/log.store.ts";

const APP = nodeId("1001");
const DAY = 86_400;

test("EVT-2: an entry omits keys that its event does not have", () => {
  const row: EventRow = {
    ...{ request: 7, position: 2, received: 100, time: 50, name: "buy", event_id: null, value: null, currency: "", parameters: "" },
    ...{ tracking: 1, device: null },
  };
  const least = {
    ...{ id: "7-2", event: "CUSTOM_APP_EVENTS", event_name: "buy", event_time: 50, received_time: 100, parameters: {} },
    ...{ application_tracking_enabled: 1, advertiser_tracking_enabled: 1, ud: {}, dropped_user_data: 0 },
  };
  expect(logEntry(row)).toStrictEqual(least as never);
  const device = JSON.stringify({ application_tracking_enabled: 0, advertiser_tracking_enabled: 1, dropped_user_data: 3 });
  expect(logEntry({ ...row, tracking: 0, device })).toStrictEqual({
    ...least,
    ...{ application_tracking_enabled: 0, advertiser_tracking_enabled: 0, dropped_user_data: 3 },
  } as never);
  const { event_name: _, ...unnamed } = least;
  expect(logEntry({ ...row, name: ":DEFERRED_APP_LINK" })).toStrictEqual({ ...unnamed, event: "DEFERRED_APP_LINK" } as never);
});

onEachDatabase("the sums of the days", (database) => {
  test("EVT-4: belong to the days of both times, count installs too, and have a sum if an event had a value", async () => {
    const { world } = await openPlaza({ database });
    const sum = (day: number, name: string, valued: number) => ({ day, name, currency: "", count: 2, valued, sum: 0n, first_time: 1, last_time: 1 });
    const names = ["buy", ":MOBILE_APP_INSTALL"] as const;
    await world.database.write((tx) =>
      addSums(
        tx,
        APP,
        [9, 10, 11, 12].flatMap((day) => names.map((name, at) => sum(day, name, 1 - at))),
      ),
    );
    const ofDay = (day: string) => [
      { day, event: "MOBILE_APP_INSTALL", currency: "", count: 2 },
      { day, event: "CUSTOM_APP_EVENTS", event_name: "buy", currency: "", count: 2, sum: "0" },
    ];
    expect(await listDaySums(world, APP, 10 * DAY, 12 * DAY - 1)).toStrictEqual([...ofDay("1970-01-11"), ...ofDay("1970-01-12")] as never);
    expect(await listDaySums(world, APP, 11 * DAY - 1, 11 * DAY)).toHaveLength(4);
  });
});
