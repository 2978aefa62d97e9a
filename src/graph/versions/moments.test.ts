/** D-03, D-81: tests of the second in which a version begins or ends. */
import { expect, test } from "bun:test";
import { GraphError } from "#kernel/errors";
import type { VersionCalendar } from "./calendar.ts";
import { defaultVersion, isNamed, newestVersion, servedVersion, upgradeWarning } from "./resolve.ts";

const marketing = (version: number, released: number, until?: number, affects: string[] = []) => ({ version, released, until, affects });
const calendar: VersionCalendar = {
  platform: [1, 2, 3].map((version) => ({ version, released: version * 100 })),
  migrationIntents: [2],
  marketing: [marketing(1, 100, 250), marketing(2, 200, 350), marketing(3, 300), marketing(4, 400, undefined, ["readFeed"])],
  migrations: [],
};

interface Requested {
  readonly requested: number | undefined;
  readonly now: number;
  readonly created?: number;
  /** The time of the app's first marketing request. 0: the app has sent no marketing request. */
  readonly firstUse?: number;
  readonly upgrades?: boolean;
  readonly rule?: "platform" | "migrationIntents" | "unversioned" | "marketing" | "marketingOrCurrent";
}

function served({ requested, now, created = 0, firstUse = 1, upgrades = true, rule = "marketing" }: Requested): unknown {
  const app = { created_time: created, marketing_first_used_time: firstUse, auto_upgrade: upgrades };
  try {
    return servedVersion({ rule, requested, app, calendar, now, names: ["readFeed"], path: "/feeds" });
  } catch (error) {
    if (error instanceof GraphError) return error.message.replace(/^(Unknown path components: |\(#2635\) )/, "").replace(/; the versions are .*/, "");
    throw error;
  }
}

test("a default version is the newest one in the second of the app's creation", () => {
  expect([0, 99, 100, 199, 200, 299, 300, 999].map((time) => defaultVersion(calendar, time, 999))).toEqual([1, 1, 1, 1, 2, 2, 3, 3]);
  // The clock was moved back to a time before the app's creation.
  expect(defaultVersion(calendar, 300, 299)).toBe(2);
});

test("a version of a calendar exists from the second of its release; the document's own always do", () => {
  expect([199, 200].map((now) => served({ rule: "platform", requested: 2, now }))).toEqual(["/v2.0", { version: 2 }]);
  expect([199, 200].map((now) => isNamed({ ...calendar, migrationIntents: [], marketing: [] }, 2, now))).toEqual([false, true]);
  expect([0, 199, 200, 299, 300].map((now) => newestVersion(calendar, now))).toEqual([1, 1, 2, 2, 3]);
  const own = {
    ...calendar,
    platform: [
      { version: 20, released: 500 },
      { version: 21, released: 600 },
      { version: 27, released: 700 },
    ],
  };
  expect([0, 699, 700].map((now) => newestVersion(own, now))).toEqual([21, 21, 27]);
  expect([isNamed(own, 21, 0), isNamed(own, 27, 699), isNamed(own, 27, 700)]).toEqual([true, false, true]);
});

test("each rule serves the versions that it names", () => {
  expect([served({ rule: "platform", requested: undefined, now: 999, created: 200 }), served({ rule: "platform", requested: 1, now: 999 })]).toEqual([
    ...[{ version: 2 }, { version: 1 }],
  ]);
  expect(served({ rule: "platform", requested: 4, now: 999 })).toBe("/v4.0");
  expect(
    ["2", "1", undefined].map((requested) =>
      served({ rule: "migrationIntents", requested: requested === undefined ? requested : Number(requested), now: 999 }),
    ),
  ).toEqual([...[{ version: 2 }, "/v1.0", "/feeds"]]);
  expect(served({ rule: "unversioned", requested: undefined, now: 300 })).toEqual({ version: 3 });
  expect([199, 200].map((now) => served({ rule: "marketingOrCurrent", requested: undefined, now }))).toEqual([{ version: 1 }, { version: 2 }]);
  expect(served({ requested: undefined, now: 200 })).toBe("A request to the marketing interface must name a version in its path");
});

test("a marketing version exists from the second of its release to the last one before its end", () => {
  expect(served({ requested: 2, now: 199 })).toBe("v2.0 is not a version of the marketing interface");
  expect([served({ requested: 2, now: 200 }), served({ requested: 1, now: 249 })]).toEqual([{ version: 2 }, { version: 1 }]);
  expect(served({ requested: 1, now: 250 })).toEqual({ version: 2, upgradedFrom: 1 });
  expect(served({ requested: 9, now: 999 })).toBe("v9.0 is not a version of the marketing interface");
});

test("an app begins with the newest version in the second of its creation or of its first use, whichever is later", () => {
  const least = (created: number, firstUse: number, now = 240) =>
    [1, 2].map((requested) => (served({ requested, now, created, firstUse }) as { version?: number }).version);
  expect([least(199, 1), least(200, 1), least(1, 199), least(1, 200), least(1, 0), least(240, 1)]).toEqual([
    ...[
      [1, 2],
      [undefined, 2],
      [1, 2],
      [undefined, 2],
      [undefined, 2],
      [undefined, 2],
    ],
  ]);
  expect(served({ requested: 1, now: 240, created: 200 })).toBe("v1.0 is not available to this app; use v2.0");
  // The clock was moved back to a time before the app's creation and before its first marketing request.
  expect(least(999, 999, 199)).toEqual([1, undefined]);
});

test("an ended version is upgraded to the next one, unless a released version in between changes the endpoint", () => {
  expect(served({ requested: 1, now: 349 })).toEqual({ version: 2, upgradedFrom: 1 });
  expect(served({ requested: 1, now: 350 })).toEqual({ version: 3, upgradedFrom: 1 });
  expect(served({ requested: 1, now: 300, upgrades: false })).toBe("v1.0 is deprecated and the app has switched the automatic upgrade off; use v3.0");
  const ended = {
    ...calendar,
    marketing: [marketing(1, 100, 250), marketing(2, 200, 350, ["readFeed"]), marketing(3, 300, 390), marketing(4, 400, undefined, ["readFeed"])],
  };
  const at = (now: number) => {
    const app = { created_time: 0, marketing_first_used_time: 1, auto_upgrade: true };
    const ask = (requested: number) => () =>
      servedVersion({ rule: "marketing", requested, app, calendar: ended, now, names: ["readFeed"], path: "/" });
    return ask;
  };
  expect(at(300)(1)).toThrow("v1.0 is deprecated and v2.0 changed this endpoint; use v3.0");
  // The next version is not released yet, so it does not affect the request.
  expect(at(399)(3)).toThrow(/ v3\.0 is deprecated and no later version is available$/);
  expect(at(400)(3)).toThrow("v3.0 is deprecated and v4.0 changed this endpoint; use v4.0");
});

test("VER-6f: the warning names both versions", () => {
  expect(upgradeWarning({ version: 25, upgradedFrom: 22 })).toBe("The call has been auto-upgraded to v25.0 as v22.0 has been deprecated");
});
