/** Runs each app with the fault that reveals the app's mistake. `npm run prove -- storm` tries all faults on all apps (`storm.proof.ts`). */
import { afterAll, describe, expect, test } from "bun:test";
import { StormFailure, stopServer, storm } from "#testing/index";
import { apps } from "./apps/all.ts";
import { world } from "./apps/client.ts";

afterAll(stopServer);

describe.each(Object.entries(apps))("the app %s", (_name, { app, fault }) => {
  test("with its mistake fails under this fault, and without it passes", async () => {
    const failed = await storm((platform) => app(platform, true), { world, schedule: fault }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StormFailure);
    expect((failed as StormFailure).report.failures.map(({ schedule }) => schedule)).toEqual([fault]);
    expect(await storm((platform) => app(platform, false), { world, schedule: fault })).toMatchObject({ schedules: 1, failures: [] });
  });
});
