/** The profile and the version calendar of a world, which are stored with the world and are the same in every process. */
import { expect, test } from "bun:test";
import { newWorkStore } from "#harness/work-database";
import { calendarWith, standardCalendar } from "../../versions/calendar.ts";
import { graphMigrations } from "../graph.migrations.ts";
import { saveSetting } from "../settings.store.ts";
import { followSettings, saveSettings, withSettings } from "../settings.ts";
import type { World } from "../world.ts";

const newer = calendarWith(standardCalendar, { platform: [{ version: "27.0", released: 1_800_000_000 }] });
const newest = calendarWith(newer, { platform: [{ version: "28.0", released: 1_900_000_000 }] });

async function followed() {
  const database = await (await newWorkStore("sqlite", [graphMigrations])).open();
  const save = (settings: Partial<Pick<World, "profile" | "calendar">>) =>
    database.write((tx) => saveSettings(tx, { profile: settings.profile, calendar: settings.calendar }));
  let [changed, reads] = [(_kind?: string, _key?: string): void => {}, 0];
  const follow = (listener: typeof changed): void => {
    changed = listener;
  };
  const broken: { by?: Error } = {};
  const reader = {
    get: async (...args: Parameters<typeof database.reader.get>) => {
      reads++;
      if (broken.by !== undefined) throw broken.by;
      return database.reader.get(...args);
    },
  };
  const seen = { reader, onInvalidate: follow };
  const world = { profile: "strict", calendar: standardCalendar, database: seen } as unknown as World;
  const failures: unknown[] = [];
  const open = () => followSettings(world, (error) => failures.push(error));
  /** Does what another process does when it invalidates a cached fact. Returns whether the invalidation made the world read its settings again. */
  const hear = async (kind?: string, key?: string): Promise<boolean> => {
    const before = reads;
    changed(kind, key);
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    return reads > before;
  };
  return { database, world, save, open, hear, broken, failures };
}

test("a world opens with its stored settings, or keeps the server's", async () => {
  const { world, save, open } = await followed();
  await open();
  expect({ profile: world.profile, isStandard: world.calendar === standardCalendar }).toEqual({ profile: "strict", isStandard: true });
  await save({ profile: "clients" });
  await open();
  expect({ profile: world.profile, isStandard: world.calendar === standardCalendar }).toEqual({ profile: "clients", isStandard: true });
  await save({ calendar: newer });
  await open();
  expect({ profile: world.profile, calendar: world.calendar }).toEqual({ profile: "clients", calendar: newer });
});

test("it follows settings of another process, even if everything may have changed, and ignores other facts", async () => {
  const { world, save, open, hear } = await followed();
  await open();
  await save({ profile: "clients", calendar: newer });
  expect([await hear("setting", "clock"), await hear("token", "profile"), world.profile]).toEqual([false, false, "strict"]);
  expect([await hear("setting", "profile"), world.profile, world.calendar]).toEqual([true, "clients", newer]);
  await save({ calendar: newest });
  expect([await hear("setting", "versions"), world.calendar]).toEqual([true, newest]);
  await save({ profile: "strict" });
  expect([await hear(), world.profile]).toEqual([true, "strict"]);
});

test("settings that cannot be read again are reported, and the world keeps those it has", async () => {
  const { world, save, open, hear, broken, failures } = await followed();
  await save({ profile: "clients" });
  await open();
  broken.by = new Error("gone");
  await hear();
  expect({ failures, profile: world.profile }).toEqual({ failures: [broken.by], profile: "clients" });
});

test("nodes that are stored with settings see the new profile, and the calendar with the rest; a failure changes nothing", async () => {
  const { world, database } = await followed();
  const settings = { profile: "clients", calendar: newer } as const;
  const failing = withSettings(world, settings, async () => {
    expect(world.profile).toBe("clients");
    throw new Error("wrong file");
  });
  await expect(failing).rejects.toThrow("wrong file");
  expect({ profile: world.profile, isStandard: world.calendar === standardCalendar }).toEqual({ profile: "strict", isStandard: true });
  await withSettings(world, { profile: undefined, calendar: undefined }, async () => expect(world.profile).toBe("strict"));
  expect({ profile: world.profile, isStandard: world.calendar === standardCalendar }).toEqual({ profile: "strict", isStandard: true });
  await withSettings(world, settings, () => database.write((tx) => saveSetting(tx, "word", "x")));
  expect({ profile: world.profile, calendar: world.calendar }).toEqual(settings);
});
