/** D-290: sends random requests with overlapping ids, duplicates and installs, and compares Plaza's responses with the results of a naive search. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { kindName } from "../log/devices.store.ts";
import { ALL_DAYS, readSums } from "../log/log.store.ts";
import { recordTouch } from "./attribution.control.ts";

const NOW = 1_795_000_000;
const NO_ID = "00000000-0000-0000-0000-000000000000";
const world = {
  clock: { now: NOW, frozen: true },
  apps: ["1001", "1002"].map((id) => ({ id, name: "Shop", secret: "s" })),
  ads: [{ id: "8501", app: "1001" }],
};

/** Advertising ids with characters of all of Unicode. */
const deviceId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }).filter((text) => text.isWellFormed() && !text.includes("\u0000"));
const cookie = fc.constantFrom("x".repeat(22), "y".repeat(22), "z".repeat(22), "0".repeat(22), NO_ID);

interface Ids {
  readonly advertiser_id?: string;
  readonly attribution?: string;
}
const idsOf = ({ advertiser_id, attribution }: Ids): string[] => [
  ...(advertiser_id === undefined || advertiser_id === NO_ID ? [] : [`device ${advertiser_id}`]),
  ...(attribution === undefined || /^[0-]+$/.test(attribution) ? [] : [`cookie ${attribution}`]),
];
const idsFrom = (devices: readonly string[]) =>
  fc.record({ advertiser_id: fc.constantFrom(...devices, NO_ID), attribution: cookie }, { requiredKeys: [] }).filter((ids) => idsOf(ids).length > 0);

const history = fc.uniqueArray(deviceId, { minLength: 3, maxLength: 6 }).chain((devices) =>
  fc.record({
    clicked: fc.array(fc.constantFrom(...devices), { minLength: 1, maxLength: 2 }),
    requests: fc.array(
      fc.record({
        ids: idsFrom(devices),
        app: fc.constantFrom("1001", "1001", "1001", "1002"),
        /** The word `install`, or the `event_id` of a custom event. The events have only a few different ids, so that some events are duplicates. */
        event: fc.constantFrom("install", "install", "1", "2", "3", "4"),
      }),
      { minLength: 1, maxLength: 14 },
    ),
  }),
);
type Request = typeof history extends fc.Arbitrary<infer H> ? (H extends { requests: (infer R)[] } ? R : never) : never;

/** Returns all ids that requests name together with the wanted ids, in any number of steps. */
function deviceOf(requests: readonly Request[], wanted: readonly string[]): Set<string> {
  const ids = new Set(wanted);
  for (const _round of requests)
    for (const one of requests) if (idsOf(one.ids).some((id) => ids.has(id))) for (const id of idsOf(one.ids)) ids.add(id);
  return ids;
}

async function send(plaza: TestPlaza, { ids, app, event }: Request) {
  const of =
    event === "install" ? { event: "MOBILE_APP_INSTALL" } : { event: "CUSTOM_APP_EVENTS", custom_events: [{ _eventName: "buy", event_id: event }] };
  const body = { ...of, ...ids, consider_views: true };
  return (await plaza.post(`/v26.0/${app}/activities`, { bearer: `${app}|s`, headers: { "x-forwarded-for": "1.2.3.4" }, body })).body;
}

const attributed = async (plaza: TestPlaza, query: object) =>
  (await plaza.get("/v26.0/1001/app_attribution", { bearer: "1001|s", query: { ...query, limit: 100, consider_views: true } })).body.data;

onEachDatabase("one device", (database) => {
  test("D-290: a device installs once, has the same response for each of its ids, and a duplicate gets the response of a read", async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ clicked, requests }) => {
        const plaza = await openPlaza({ database, world });
        for (const advertiser_id of clicked) await recordTouch(plaza.world, "click", { ad: "8501", advertiser_id, time: NOW - 60 });
        const seen: Request[] = [];
        /** The number of the first request with each event, and the installs that are counted. */
        const counted: Request[] = [];
        for (const one of requests) {
          const answer = await send(plaza, one);
          seen.push(one);
          const own = seen.filter(({ app }) => app === one.app);
          const device = deviceOf(own, idsOf(one.ids));
          const isSame = (other: Request) =>
            other.app === one.app && other.event === one.event && (one.event !== "install" || idsOf(other.ids).some((id) => device.has(id)));
          if (!counted.some(isSame)) counted.push(one);
          const event = one.event === "install" ? "MOBILE_APP_INSTALL" : "CUSTOM_APP_EVENTS";
          if (one.app === "1001") expect(answer).toEqual({ success: true, data: await attributed(plaza, { ...one.ids, event }) });
          else expect(answer).toEqual({ success: true, data: [] });
        }
        const own = requests.filter(({ app }) => app === "1001");
        for (const { ids } of own) {
          const device = deviceOf(own, idsOf(ids));
          const isClicked = clicked.some((id) => device.has(`device ${id}`));
          const due = counted.filter((one) => one.app === "1001" && isClicked && idsOf(one.ids).some((id) => device.has(id)));
          for (const query of [{ advertiser_id: ids.advertiser_id }, { attribution: ids.attribution }]) {
            const [id] = idsOf(query as Ids);
            if (id === undefined) continue;
            const rows = await attributed(plaza, query);
            expect(rows.map((row: { event: string; cross_device: boolean }) => `${row.event} ${row.cross_device}`)).toEqual(
              due.toReversed().map(({ event }) => `${event === "install" ? "MOBILE_APP_INSTALL" : "CUSTOM_APP_EVENTS"} false`),
            );
          }
        }
        await plaza.close();
      }),
      { numRuns: database === "sqlite" ? 80 : 8 },
    );
  }, 120_000);

  test("D-290: an event with two ids makes two installs one, so does a duplicate, and a refused request does not", async () => {
    const plaza = await openPlaza({ database, world: { ...world, apps: [{ id: "1001", name: "Shop", secret: "s", event_name_limit: 1 }] } });
    const event = (ids: Ids, more: object = { event_id: "e" }) =>
      plaza.post("/v26.0/1001/activities", {
        ...{ bearer: "1001|s", headers: { "x-forwarded-for": "1.2.3.4" } },
        body: { event: "CUSTOM_APP_EVENTS", custom_events: [{ _eventName: "buy", ...more }], ...ids },
      });
    const install = async (ids: Ids) => {
      await send(plaza, { ids, app: "1001", event: "install" });
      const totals = await readSums(plaza.world.database.reader, nodeId("1001"), ALL_DAYS, ALL_DAYS);
      return totals.find(({ name }) => name === kindName("MOBILE_APP_INSTALL"))?.count;
    };
    const [A, B, C, D] = [{ advertiser_id: "a" }, { advertiser_id: "b" }, { attribution: "c".repeat(22) }, { attribution: "d".repeat(22) }];
    await event({ ...A, ...C });
    expect([await install(A), await install(C)]).toEqual([1, 1]);
    // A request names another advertising id with the same cookie.
    await event({ ...B, ...C });
    expect(await install(B)).toBe(1);
    await event({ ...A, ...D });
    expect(await install(D)).toBe(1);
    const other = { advertiser_id: "other" };
    expect((await event({ ...other, ...D }, { _eventName: "one more" })).status).toBe(400);
    expect(await install(other)).toBe(2);
    // An install that counted before two devices were joined still counts.
    await event({ ...other, ...D });
    expect([await install(other), await install(A)]).toEqual([2, 2]);
  });
});
