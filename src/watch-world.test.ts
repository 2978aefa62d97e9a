import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "#config/config";
import { exportWorld } from "#graph/worlds/file/import-export";
import type { Worlds } from "#graph/worlds/hosting/worlds";
import { afterThisTest } from "#harness/cleanup";
import { openPlaza } from "#harness/plaza";
import type { Log } from "#telemetry/log";
import { watchWorld } from "./watch-world.ts";

const BEFORE = { users: [{ id: "3001", name: "Ada" }] };
const AFTER = { users: [{ id: "3001", name: "Eve" }] };

test("changes of a file are counted from the last applied version, not from a refused one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "watched-"));
  afterThisTest(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "world.json");
  const { world, registry } = await openPlaza({ world: BEFORE });
  const logged: [string, unknown][] = [];
  const note = (fields: unknown, message: string) => void logged.push([message, fields]);
  const log = { info: note, warn: note, error: note } as unknown as Log;
  writeFileSync(file, JSON.stringify(BEFORE));
  const watch = watchWorld({ default: world } as Worlds, registry, { world: file } as Config, JSON.stringify(BEFORE), log);
  const saved = async (content: object) => {
    const before = logged.length;
    writeFileSync(file, JSON.stringify(content));
    while (logged.length === before) await Bun.sleep(20);
    return logged.at(-1)?.[0];
  };
  const names = async () => (await exportWorld(world, registry)).users;
  expect(await saved({ users: [{ id: "3001", name: "Eve" }, { id: "3002" }], labels: [{ id: "5001", page: "2009", name: "x" }] })).toContain(
    "is not applied",
  );
  expect(await names()).toEqual(BEFORE.users);
  // One user of the refused version stays in the next version of the file, and this user still counts as new.
  expect(
    await saved({
      users: [
        { id: "3001", name: "Eve" },
        { id: "3002", name: "Bo" },
      ],
    }),
  ).toContain("has changed");
  expect(await names()).toEqual([
    { id: "3001", name: "Eve" },
    { id: "3002", name: "Bo" },
  ]);
  await watch.stop();
});

test("a file that is saved after the end changes nothing, while another one that is watched does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "watched-"));
  afterThisTest(() => rmSync(folder, { recursive: true }));
  const logged: string[] = [];
  const watch = async (name: string) => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(BEFORE));
    const { world, registry } = await openPlaza({ world: BEFORE });
    const note = (_fields: unknown, message: string) => void logged.push(`${name}: ${message}`);
    const log = { info: note, warn: note, error: note } as unknown as Log;
    return () => watchWorld({ default: world } as Worlds, registry, { world: file } as Config, JSON.stringify(BEFORE), log);
  };
  // If the first watch had not stopped its timer, that timer would run before the timer of the second watch.
  const watches = [await watch("ended"), await watch("watched")].map((begin) => begin());
  await watches[0]?.stop();
  for (const name of ["ended", "watched"]) writeFileSync(join(folder, name), JSON.stringify(AFTER));
  while (logged.length === 0) await Bun.sleep(20);
  await watches[1]?.stop();
  expect(logged).toEqual(["watched: the world file has changed and was applied"]);
});
