/** D-266: checks that a move of the clock over 20 days stops at all work that becomes due on the way, scheduled fetches and retries alike. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { csv, openFeeds, row } from "#harness/feeds";
import { serve } from "#harness/outbound";
import { startReceiver } from "#harness/receiver";
import { RETRY_OFFSETS_MS } from "#webhooks/delivery/retry-schedule";

const DAYS = 20;
const HOURS = DAYS * 24;
const SECONDS = DAYS * 86_400;

onEachDatabase("D-266: a move over 20 days", (database) => {
  test("fetches a feed 480 times and makes each retry at its time, and has done everything before the response", async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 500 });
    const { plaza, request } = await openFeeds(database);
    const { clock } = plaza.world;
    const fetches: number[] = [];
    const port = serve(() => {
      fetches.push(clock.nowMs());
      return new Response(csv(row("a")));
    });
    await request("PUT", "clock", { now: 1_795_000_000, frozen: true });
    await request("PATCH", "nodes/apps/1001", {
      callback: { url: receiver.url },
      subscriptions: [{ object: "page", fields: ["live_videos"] }],
    });
    await request("PATCH", "nodes/pages/2001", { subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] });
    const schedule = { interval: "HOURLY", url: `http://127.0.0.1:${port}/feed.csv` };
    expect((await plaza.post("/v25.0/8101", { bearer: "reader", body: { schedule } })).body).toEqual({ success: true });
    const { body: triggered } = await request("POST", "deliveries/trigger", { object: "page", field: "live_videos", entity: "2001" });
    const startMs = clock.nowMs();
    expect((await request("POST", "clock/advance", { seconds: SECONDS })).status).toBe(200);
    expect(clock.nowMs()).toBe(startMs + SECONDS * 1_000);
    const firstMs = Math.ceil((startMs + 1) / 3_600_000) * 3_600_000;
    expect(fetches).toEqual(Array.from({ length: HOURS }, (_, hour) => firstMs + hour * 3_600_000));
    const { body: delivery } = await request("GET", `deliveries/${triggered.deliveries[0]}`);
    expect(delivery).toMatchObject({ status: "failed", reason: "gave_up" });
    const times: number[] = delivery.attempts.map(({ time }: { time: number }) => Math.round(time * 1_000));
    expect(times).toHaveLength(1 + RETRY_OFFSETS_MS.length);
    RETRY_OFFSETS_MS.forEach((offsetMs, step) => {
      const stepMs = offsetMs - (RETRY_OFFSETS_MS[step - 1] ?? 0);
      const waitMs = (times[step + 1] as number) - (times[step] as number);
      expect(waitMs).toBeLessThanOrEqual(stepMs);
      expect(waitMs).toBeGreaterThanOrEqual(stepMs * 0.9);
    });
  }, 120_000);
});
