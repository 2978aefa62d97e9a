/** Runs the whole storm on the apps of this folder, with and without their mistakes, and measures its rate. */
import { afterAll, describe, expect, test } from "bun:test";
import { StormFailure, type StormReport, stopServer, storm } from "#testing/index";
import { apps } from "./apps/all.ts";
import { type App, Client, world } from "./apps/client.ts";

afterAll(stopServer);

const reportOf = async (app: App, hasMistake: boolean, seed: number): Promise<StormReport> => {
  try {
    return await storm((platform) => app(platform, hasMistake), { world, seed });
  } catch (error) {
    if (error instanceof StormFailure) return error.report;
    throw error;
  }
};

describe.each(Object.entries(apps))("the app %s", (name, { app, fault }) => {
  test("with its mistake fails under its fault; without it, under no fault and no pair of faults", async () => {
    const [wrong, right] = [await reportOf(app, true, 1), await reportOf(app, false, 1)];
    console.log(
      `${name}: ${wrong.failures.length} of ${wrong.schedules} fail with the mistake, ${right.failures.length} of ${right.schedules} without it`,
    );
    expect(wrong.failures.map(({ schedule }) => schedule)).toContain(fault);
    expect(right.failures.map(({ schedule, problem }) => ({ schedule, problem }))).toEqual([]);
  });
});

test("the rate with a scenario of three requests", async () => {
  const { schedules, durationMs } = await storm(
    async (platform) => {
      const client = new Client(platform);
      const { id } = await client.createLabel("vip");
      await client.attach(id);
      await client.labels();
    },
    { world, pairs: 300 },
  );
  console.log(`${schedules} schedules in ${Math.round(durationMs)} ms: ${((schedules * 1_000) / durationMs).toFixed(1)} a second`);
  expect(schedules).toBeGreaterThan(100);
});
