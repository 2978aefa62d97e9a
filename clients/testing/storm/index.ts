/** `storm` of the test kit: finds what an app does wrong when the platform misbehaves (docs/guides/storm.md). */
import { sharedServer } from "../server.ts";
import { openWorld, type WorldOptions } from "../with-plaza.ts";
import type { World } from "../world.ts";
import { reportText } from "./report.ts";
import type { Scenario } from "./runs.ts";
import { runStorm, type StormOptions, type StormReport } from "./storm.ts";

export interface StormInTests extends StormOptions, WorldOptions {
  /** Changes each new world before storm makes the first run in the world. */
  readonly prepare?: ((world: World) => Promise<void>) | undefined;
}

/** The error of an app that did something wrong under at least one schedule. The message of the error is storm's report. */
export class StormFailure extends Error {
  override readonly name = "StormFailure";

  constructor(readonly report: StormReport) {
    super(reportText(report, (schedule) => `set STORM_SCHEDULE='${schedule}', and run this test again`));
  }
}

/**
 * Runs the scenario without faults, and then once under every single fault at every point and under pairs of faults, each run in a world of its own.
 * Rejects with a `StormFailure` if the scenario or an invariant fails under a fault.
 */
export async function storm(scenario: Scenario, { world, prepare, ...options }: StormInTests = {}): Promise<StormReport> {
  const server = await sharedServer();
  const newSlot = async () => {
    const plaza = await openWorld(server, { world });
    await prepare?.(plaza);
    return { world: plaza, delete: () => plaza.close() };
  };
  const report = await runStorm({ newSlot, scenario }, options);
  if (report.failures.length > 0) throw new StormFailure(report);
  return report;
}
