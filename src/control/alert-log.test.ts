import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { csv, openFeeds, row } from "#harness/feeds";
import { sql } from "#storage/sql";
import { processFacts } from "#system";
import { metricsReport } from "#telemetry/metrics-report";
import { RequestMetrics } from "#telemetry/request-metrics";
import { AlertLog, featureAlerts } from "./alert-log.ts";
import { metricsText } from "./metrics.ts";

onEachDatabase("the log of alerts", (database) => {
  test("D-359: an upload that is stuck is logged once, is in the metrics, and its end is logged", async () => {
    const { upload, plaza } = await openFeeds(database);
    const { world, registry } = plaza;
    await upload(csv(row("a")));
    const logged: unknown[] = [];
    const alerts = new AlertLog(registry, () => [world], {
      warn: (fields, text) => void logged.push({ ...fields, text }),
      info: (fields, text) => void logged.push({ ...fields, text }),
    });
    const looked = async (status: string, ageSeconds: number) => {
      await world.database.write((tx) =>
        tx.runOne(sql`UPDATE feed_uploads SET status = ${status}, created_time = ${1_795_000_000 - ageSeconds} WHERE feed = 8101 AND n = 1`),
      );
      await alerts.look();
      return logged.splice(0);
    };
    const metrics = () =>
      metricsText(metricsReport(processFacts("main"), new RequestMetrics(), { lagP99Ms: 0, holds: [] }, []), [world], "all", (of) =>
        featureAlerts(registry, of),
      );
    const named = { world: world.name, kind: "feed", of: "8101" };
    const sample = `plaza_alerts{world="${world.name}",kind="feed",level="error"} 1\n`;
    expect(await looked("running", 3_600)).toEqual([]);
    expect(await metrics()).not.toContain(sample);
    expect(await looked("running", 3_601)).toEqual([
      { ...named, alert: expect.stringContaining("has not finished after more than an hour"), text: "an alert began" },
    ]);
    expect(await metrics()).toContain(sample);
    // If an alert only gets another reason, it is not a new alert.
    expect(await looked("pending", 4_000)).toEqual([]);
    expect(await looked("pending", 0)).toEqual([{ ...named, text: "an alert ended" }]);
  });
});

test("D-359: while the database is away, known alerts stay known", async () => {
  const logged: string[] = [];
  let answer: () => Promise<readonly object[]> = async () => [{ kind: "feed", level: "error", of: "1", text: "stuck" }];
  const registry = { features: [{ alerts: () => answer() }] } as never;
  const alerts = new AlertLog(registry, () => [{ name: "w" }] as never, {
    warn: (_, text) => void logged.push(text),
    info: (_, text) => void logged.push(text),
  });
  await alerts.look();
  answer = () => Promise.reject(new Error("away"));
  await alerts.look();
  answer = async () => [
    { kind: "feed", level: "error", of: "1", text: "stuck" },
    { kind: "fault", level: "notice", of: "2", text: "intended" },
  ];
  await alerts.look();
  expect(logged).toEqual(["an alert began"]);
});
