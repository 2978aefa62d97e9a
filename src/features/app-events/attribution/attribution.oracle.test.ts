import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { secondsAround } from "#harness/time/seconds";
import { nodeId } from "#kernel/ids";
import { recordTouch } from "./attribution.control.ts";
import { reportOf } from "./attribution.handlers.ts";

const NOW = 1_795_000_000;
const DAY = 86_400;
const APPS = ["1001", "1002"] as const;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const PHONE = "1b671a64-40d5-491e-99b0-da01ff1f3341";
const COOKIE = "2c782b75-51e6-4a2f-8ac1-eb1200204452";
const NO_ID = "00000000-0000-0000-0000-000000000000";

const world = {
  clock: { now: NOW, frozen: true },
  apps: APPS.map((id) => ({ id, name: "Shop", secret: "s" })),
  ads: APPS.map((app, at) => ({ id: `850${at + 1}`, app, campaign_id: "9501", objective: "APP_INSTALLS" })),
};

/** The ids and the person of a request or a click, as they are sent. */
const names = fc.record({
  advertiser_id: fc.constantFrom(undefined, "a", "b", "c", PHONE, PHONE.toUpperCase(), NO_ID),
  attribution: fc.constantFrom(undefined, undefined, COOKIE, COOKIE.toUpperCase(), NO_ID, "x".repeat(22), "X".repeat(22)),
  em: fc.constantFrom(undefined, undefined, sha256("p"), sha256("p").toUpperCase(), sha256("q")),
});
const at = secondsAround(NOW, DAY, [NOW - 40 * DAY, NOW]);
/** The app that sends the request, or the app whose ad is clicked. */
const app = fc.constantFrom(...APPS);
const step = fc.oneof(
  fc.record({ kind: fc.constant("click" as const), app, names, time: at }),
  fc.record({
    kind: fc.constant("events" as const),
    app,
    names,
    times: fc.array(at, { minLength: 1, maxLength: 12 }),
    tracked: fc.constantFrom(0, 1, 1),
  }),
);
type Names = typeof names extends fc.Arbitrary<infer N> ? N : never;
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const comparable = (id: string | undefined) => (id === NO_ID ? undefined : id?.length === 36 ? id.toLowerCase() : id);
const idsOf = (one: Names) => [comparable(one.advertiser_id), comparable(one.attribution)].filter((id) => id !== undefined);
const isValid = (one: Step) => idsOf(one.names).length > 0 || (one.kind === "click" && one.names.em !== undefined);

interface Row {
  readonly event_time: number;
  readonly click_time: number;
  readonly cross_device: boolean;
}

/** Finds all ids of a device in a slow and naive way: compares every request and click with all others until no further id is found. */
function deviceOf(steps: readonly Step[], wanted: readonly string[]): string[] {
  const ids = new Set(wanted);
  for (const _round of steps) for (const one of steps) if (idsOf(one.names).some((id) => ids.has(id))) for (const id of idsOf(one.names)) ids.add(id);
  return [...ids].sort();
}

/** Returns the steps of a history that show which ids belong to one device of an app: the clicks on ads of all apps, and the requests of this app. */
const stepsOf = (steps: readonly Step[], app: string): Step[] => steps.filter((one) => one.kind === "click" || one.app === app);

function rowsOf(steps: readonly Step[], app: string, wanted: string, days: number, isReport: boolean): Row[] {
  const device = deviceOf(steps, [wanted]);
  const linking = steps.filter((one) => one.kind === "click" || one.tracked === 1);
  const persons = linking.filter((one) => idsOf(one.names).some((id) => device.includes(id))).flatMap(({ names: { em } }) => em?.toLowerCase() ?? []);
  const linked = linking.filter(({ names: { em } }) => em !== undefined && persons.includes(em.toLowerCase())).flatMap((one) => idsOf(one.names));
  const reached = [...device, ...deviceOf(steps, linked)];
  const clicks = steps.flatMap((one) =>
    one.kind === "click" &&
    one.app === app &&
    (idsOf(one.names).some((id) => reached.includes(id)) || persons.includes(one.names.em?.toLowerCase() ?? ""))
      ? [one]
      : [],
  );
  return steps.flatMap((one) => {
    if (one.kind === "click" || !idsOf(one.names).some((id) => device.includes(id)) || (one.tracked === 0 && !isReport)) return [];
    return one.times.flatMap((time) => {
      const counted = clicks.filter((click) => click.time <= time && time - click.time <= days * DAY);
      const last = counted.findLast((click) => counted.every((other) => other.time <= click.time));
      if (last === undefined) return [];
      const touched = idsOf(last.names);
      const cross_device = touched.length > 0 && !touched.some((id) => device.includes(id));
      return [{ event_time: time, click_time: last.time, cross_device }];
    });
  });
}

async function play(plaza: TestPlaza, steps: readonly Step[]): Promise<void> {
  for (const one of steps) {
    const { em, ...ids } = one.names;
    const ud = em === undefined ? {} : { ud: { em } };
    if (one.kind === "click") await recordTouch(plaza.world, "click", { ad: `850${APPS.indexOf(one.app) + 1}`, time: one.time, ...ids, ...ud });
    else {
      const custom_events = one.times.map((_logTime) => ({ _eventName: "buy", _logTime }));
      const body = { event: "CUSTOM_APP_EVENTS", custom_events, advertiser_tracking_enabled: one.tracked, ...ids, ...ud };
      const { status } = await plaza.post(`/v26.0/${one.app}/activities`, {
        bearer: `${one.app}|s`,
        headers: { "x-forwarded-for": "1.2.3.4" },
        body,
      });
      expect(status).toBe(200);
    }
  }
}

type Paging = { cursors: { before: string; after: string }; next?: string; previous?: string };

/** Reads all pages and returns their rows. Checks that reading the pages backwards returns the same rows as reading them forwards. */
async function readPages(plaza: TestPlaza, app: string, query: Record<string, unknown>): Promise<Row[]> {
  const page = async (cursor: object) => {
    const { body } = await plaza.get(`/v26.0/${app}/app_attribution`, { bearer: `${app}|s`, query: { ...query, ...cursor } });
    return body as { data: Row[]; paging: Paging };
  };
  const pages = [await page({})];
  for (let last = pages[0]; last?.paging.next !== undefined; pages.push(last)) last = await page({ after: last.paging.cursors.after });
  for (let i = pages.length - 1; i > 0; i--)
    expect((await page({ before: pages[i]?.paging.cursors.before })).data).toEqual(pages[i - 1]?.data as Row[]);
  return pages.flatMap(({ data }) => data.map(({ event_time, click_time, cross_device }) => ({ event_time, click_time, cross_device })));
}

onEachDatabase("attribution compared with a naive implementation", (database) => {
  test("D-74: each id of a device, and the report, lead to the same events, clicks and flags, in pages of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step.filter(isValid), { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 30 }), async (all, limit) => {
        const plaza = await openPlaza({ database, world });
        await play(plaza, all);
        for (const app of APPS) {
          const steps = stepsOf(all, app);
          const due: Row[] = [];
          const seen = new Set<string>();
          for (const one of steps) {
            for (const name of ["advertiser_id", "attribution"] as const) {
              const sent = one.names[name];
              const id = comparable(sent);
              if (sent === undefined || id === undefined) continue;
              expect(await readPages(plaza, app, { [name]: sent, limit })).toEqual(rowsOf(steps, app, id, 30, false).reverse());
              if (seen.has(id)) continue;
              for (const other of deviceOf(steps, [id])) seen.add(other);
              due.push(...rowsOf(steps, app, id, 28, true));
            }
          }
          const [row, ...others] = await reportOf(plaza.world, nodeId(app), 0, NOW);
          expect(others).toEqual([]);
          const counts = { click_through: due.length, cross_device: due.filter(({ cross_device }) => cross_device).length };
          if (due.length === 0) expect(row).toBeUndefined();
          else expect(row).toMatchObject(counts);
        }
        await plaza.close();
      }),
      { numRuns: database === "sqlite" ? 60 : 6 },
    );
  }, 120_000);
});
