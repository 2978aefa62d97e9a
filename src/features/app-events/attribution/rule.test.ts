import { expect, test } from "bun:test";
import fc from "fast-check";
import { eventKinds } from "../app-events.contract.ts";
import { type Ad, attribute, clicksAlone, clicksAndViews, isClaimable, type Model, reporting, type Touch } from "./rule.ts";

const APP = "1001";
const DAY = 86_400;
const DEVICES = ["device:a", "device:b", "cookie:c"] as const;

const ad = fc.record({
  id: fc.constantFrom("8501", "8502"),
  app: fc.constantFrom(APP, "1002"),
  campaign_id: fc.constant("9001"),
  objective: fc.constantFrom("APP_INSTALLS", "APP_ENGAGEMENT", "LINK_CLICKS"),
  tracked_apps: fc.subarray([APP, "1002"]),
}) satisfies fc.Arbitrary<Ad>;

/** Times around the ends of the attribution windows, where mistakes are likely. */
const edges = [0, 1, DAY - 1, DAY, DAY + 1, 28 * DAY, 28 * DAY + 1, 30 * DAY, 30 * DAY + 1];
const NOW = 100 * DAY;
const time = fc.oneof(
  fc.constantFrom(...edges).map((before) => NOW - before),
  fc.integer({ min: NOW - 40 * DAY, max: NOW + DAY }),
);

const touches: fc.Arbitrary<Touch[]> = fc
  .array(fc.record({ ad, kind: fc.constantFrom("click" as const, "impression" as const), time, devices: fc.subarray([...DEVICES]) }), {
    maxLength: 12,
  })
  .map((list) => list.map((touch, at) => ({ ...touch, id: String(at + 8) })));

const event = fc.record({
  kind: fc.constantFrom(...eventKinds),
  time,
  advertiser_tracking_enabled: fc.constantFrom(0 as const, 1 as const),
});

const models: Record<string, { model: Model; clickDays: number; views: (kind: string) => boolean }> = {
  "clicks alone": { model: clicksAlone, clickDays: 30, views: () => false },
  "clicks and views": { model: clicksAndViews, clickDays: 30, views: (kind) => kind === "MOBILE_APP_INSTALL" },
  reporting: { model: reporting, clickDays: 28, views: () => true },
};

/** A naive version of the attribution rule, which follows the sentences of the interface's document. */
interface Reported {
  readonly kind: string;
  readonly time: number;
  readonly advertiser_tracking_enabled: 0 | 1;
}

function oracle(reported: Reported, devices: string[], all: Touch[], name: string) {
  if (reported.advertiser_tracking_enabled === 0 && name !== "reporting") return undefined;
  const { clickDays, views } = models[name] as (typeof models)[string];
  const mayClaim = ({ objective, app, tracked_apps }: Ad) =>
    objective === "APP_INSTALLS" || objective === "APP_ENGAGEMENT" ? app === APP : tracked_apps.includes(APP);
  const inDays = (kind: string, days: number) =>
    all
      .filter((touch) => touch.kind === kind && mayClaim(touch.ad) && reported.time - touch.time >= 0 && reported.time - touch.time <= days * DAY)
      .sort((one, other) => other.time - one.time || Number(other.id) - Number(one.id))[0];
  const found = inDays("click", clickDays) ?? (views(reported.kind) ? inDays("impression", 1) : undefined);
  if (found === undefined) return undefined;
  const isOther = found.devices.length > 0 && found.devices.every((id) => !devices.includes(id));
  return { id: found.id, cross_campaign: found.ad.objective === "LINK_CLICKS", cross_device: isOther };
}

test.each(Object.keys(models))("ATTR-3, ATTR-4, ATTR-7, ATTR-8, LIM-10 to LIM-12: %s does what the document says", (name) => {
  const { model } = models[name] as (typeof models)[string];
  fc.assert(
    fc.property(event, fc.subarray([...DEVICES], { minLength: 1 }), touches, (reported, devices, all) => {
      const found = attribute(reported, devices, all, APP, model);
      const expected = oracle(reported, devices, all, name);
      expect(
        found === undefined ? undefined : { id: found.touch.id, cross_campaign: found.cross_campaign, cross_device: found.cross_device },
      ).toEqual(expected as never);
      if (found !== undefined) expect(isClaimable(found.touch.ad, APP)).toBeTrue();
    }),
    { numRuns: 3_000 },
  );
});
