/** Tests how many SQL statements and rows a request causes, depending on the number of its events. */
import { expect, test } from "bun:test";
import { countStatements } from "#harness/counted-steps";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";

const NOW = 1_795_000_000;
const DAY = 86_400;
const world = { clock: { now: NOW, frozen: true }, apps: [{ id: "1001", name: "Shop", secret: "s" }], ads: [{ id: "8501", app: "1001" }] };

const events: Readonly<Record<string, (at: number) => object>> = {
  "with ids": (at) => ({ _eventName: "buy", event_id: `order ${at}`, _valueToSum: 1, pf_currency: "EUR" }),
  "without ids": () => ({ _eventName: "buy" }),
  "of many days": (at) => ({ _eventName: "buy", event_id: `${at}`, _logTime: at * DAY }),
  "of one id": (at) => ({ _eventName: "buy", event_id: "one", _logTime: at * 3 * DAY }),
};

onEachDatabase("the work for a request", (kind) => {
  test.each(Object.keys(events))(
    "twice the events %s cost at most 2.5 times the steps, sent once and twice",
    async (name) => {
      const work = async (count: number): Promise<readonly number[]> => {
        const plaza: TestPlaza = await openPlaza({ database: kind, world });
        const custom_events = Array.from({ length: count }, (_, at) => (events[name] as (at: number) => object)(at));
        const send = async () => {
          const body = { event: "CUSTOM_APP_EVENTS", advertiser_id: "a", attribution: "x".repeat(22), consider_views: true, custom_events };
          const { status } = await plaza.post("/v26.0/1001/activities", { bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" }, body });
          expect(status).toBe(200);
        };
        let steps = 0;
        countStatements(plaza.world.database, (more) => {
          steps += more;
        });
        await send();
        const first = steps;
        await send();
        const found = [first, steps - first];
        await plaza.close();
        return found;
      };
      const [half, whole] = [await work(4_000), await work(8_000)];
      expect(whole).toHaveLength(2);
      for (const [sending, steps] of whole.entries()) {
        expect(steps).toBeGreaterThan(8_000 / 128);
        expect(steps).toBeLessThanOrEqual(2.5 * (half[sending] as number));
      }
    },
    60_000,
  );
});
