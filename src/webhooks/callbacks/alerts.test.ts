/** D-137: checks that a callback that has failed for an hour is reported once for each series of failures. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import { alertJob } from "./health.ts";

const HOUR = 3_600;

onEachDatabase("alerts about a failing callback", (kind) => {
  async function open() {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 500 });
    const fixture = openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    const fail = async () => {
      await fixture.emit("4001", {});
      await fixture.loop.runDue();
    };
    /** The reported alerts, each with the start of its series of failures and the seconds from this start to the alert. */
    const alerts: { since: number; after: number }[] = [];
    const startMs = fixture.clock.ms;
    const push = fixture.alerts.push.bind(fixture.alerts);
    fixture.alerts.push = (...callbacks) => {
      for (const { failing_since_ms } of callbacks)
        alerts.push({ since: ((failing_since_ms ?? 0) - startMs) / 1_000, after: (fixture.clock.ms - (failing_since_ms ?? 0)) / 1_000 });
      return push(...callbacks);
    };
    return { fixture, fail, alerts };
  }

  test("a new series after a silence has its own alert, an hour later", async () => {
    const { fixture, fail, alerts } = await open();
    await fail();
    const first = { since: 0, after: HOUR };
    await fixture.advance(HOUR - 1);
    expect(alerts).toEqual([]);
    await fixture.advance(1);
    expect(alerts).toEqual([first]);
    // The retries of the delivery end after a day and a half; until then no attempt shows that the callback works again.
    await fixture.advance(99 * HOUR);
    expect(alerts).toEqual([first]);
    await fail();
    await fixture.advance(HOUR - 1);
    expect(alerts).toEqual([first]);
    await fixture.advance(1);
    expect(alerts).toEqual([first, { since: 100 * HOUR, after: HOUR }]);
  });

  test("an alert is reported when its job has ended, so that no other process reports it again", async () => {
    const { fixture, fail } = await open();
    const jobs: Promise<unknown[]>[] = [];
    const { push } = fixture.alerts;
    fixture.alerts.push = (...callbacks) => {
      jobs.push(fixture.database.reader.all(sql`SELECT j.key FROM jobs j WHERE j.kind = ${alertJob}`));
      return push(...callbacks);
    };
    await fail();
    await fixture.advance(HOUR);
    expect(await Promise.all(jobs)).toEqual([[]]);
  });

  test("a series that begins again because the clock was moved back has its own alert after an hour", async () => {
    const { fixture, fail, alerts } = await open();
    await fail();
    fixture.clock.ms -= 10 * HOUR * 1_000;
    await fail();
    await fixture.advance(HOUR - 1);
    expect(alerts).toEqual([]);
    await fixture.advance(1);
    expect(alerts).toEqual([{ since: -10 * HOUR, after: HOUR }]);
    await fixture.advance(12 * HOUR);
    expect(alerts).toHaveLength(1);
  });
});
