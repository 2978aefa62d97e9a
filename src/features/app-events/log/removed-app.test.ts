/** Tests that removing an app deletes all rows of the app, and that the equal rows of another app stay. */
import { expect, test } from "bun:test";
import type { WorldSection } from "#graph/contract/feature";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { removeNode } from "#graph/worlds/open-world";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { insertEntry } from "#harness/sections";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";
import { deactivateEventName } from "../app-events.control.ts";
import { insertNames } from "../intake/intake.store.ts";
import { indexDevices } from "./devices.store.ts";
import { JoinedIds } from "./joined-ids.store.ts";
import * as log from "./log.store.ts";
import { addSums } from "./log.store.ts";

const APP = nodeId("1001");
const OTHER = nodeId("1002");

onEachDatabase("a removed app", (kind) => {
  test("leaves no names that an app with the same id would find used or deactivated", async () => {
    const app = { id: APP, name: "Shop", secret: "s", event_name_limit: 2 };
    const plaza = await openPlaza({ database: kind, world: { apps: [app] } });
    const report = async (_eventName: string) => {
      const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "d", custom_events: [{ _eventName }] };
      const headers = { "x-forwarded-for": "1.2.3.4" };
      return (await plaza.post(`/v26.0/${APP}/activities`, { bearer: `${APP}|s`, headers, body })).status;
    };
    expect([await report("a"), await report("b")]).toEqual([200, 200]);
    expect(await deactivateEventName(plaza.world, APP, "a")).toBe(true);
    expect([await report("a"), await report("b"), await report("c"), await report("d")]).toEqual([400, 200, 200, 400]);
    const section = sectionsOf(plaza.registry).find(({ key }) => key === "apps") as WorldSection;
    expect(await plaza.world.database.write((tx) => removeNode(tx, plaza.registry, plaza.world, section, APP))).toBe(true);
    expect(await insertEntry(plaza, "apps", app)).toBe(true);
    expect([await report("a"), await report("d"), await report("b")]).toEqual([200, 200, 400]);
  });

  test("is deleted with its own rows in every table", async () => {
    const { database } = (await openPlaza({ database: kind })).world;
    for (const app of [APP, OTHER]) {
      await database.write(async (tx) => {
        await log.insertEvents(tx, [app, 1, 0, 100, 50, "buy", null, null, null, "", "", 1, "{}"]);
        await insertNames(tx, app, ["buy"]);
        const devices = await JoinedIds.open(tx, app, ["device:a"]);
        devices.install(["device:a"]);
        await devices.store();
        await addSums(tx, app, [{ day: 0, name: "buy", currency: "", count: 1, valued: 0, sum: 0n, first_time: 50, last_time: 50 }]);
        await indexDevices(tx, app, [{ request: 1, identities: ["device:a", "em:x"], name: "buy" }]);
        await tx.runOne(sql`INSERT INTO app_event_last_requests (app, request) VALUES (${app}, 1)`);
      });
    }
    const parts = ["last_requests", "names", "sums", "devices", "ties"];
    const tables = ["app_events", "app_device_ids", ...parts.map((part) => `app_event_${part}`)];
    const owners = async (): Promise<string[]> => {
      const counts = tables.map((table) => `SELECT '${table} ' || app || ' ' || COUNT(*) AS line FROM ${table} GROUP BY app`);
      const found = await database.reader.all<{ line: string }>({ query: { text: counts.join(" UNION ALL ") }, values: [] });
      return found.map(({ line }) => line).sort();
    };
    // The index has one row for the device and one row for the person.
    const rowsOf = (...apps: string[]) =>
      tables.flatMap((table) => apps.map((app) => `${table} ${app} ${table === "app_event_ties" ? 2 : 1}`)).sort();
    expect(await owners()).toEqual(rowsOf(APP, OTHER));
    await database.write((tx) => log.deleteEventsOfApp(tx, APP));
    // D-423: the number of the app's newest request stays in the database.
    expect(await owners()).toEqual([...rowsOf(OTHER), `app_event_last_requests ${APP} 1`].sort());
  });
});
