/** Many worlds used at once, made and deleted again and again, each by its own time. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { onEachDatabase } from "#harness/plaza";
import { tries } from "#harness/proof";
import { temporaryFolder } from "#harness/server";
import { newData, startOwnServer } from "./own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, worldOf } from "./server-of-worlds.ts";

const WORLDS = 50;
const ROUNDS = 4;

onEachDatabase("many worlds at once", (kind) => {
  test("50 clients use 50 worlds with the same ids at once, and none sees anything of another", async () => {
    const server = await startOwnServer({ data: await newData(kind), calls_max: "10000" });
    const names = Array.from({ length: WORLDS }, (_, at) => `w${at}`);
    await Promise.all(names.map(async (name) => expect((await makeWorld(server, name)).status).toBe(201)));
    const use = async (name: string): Promise<void> => {
      const own = ["5001", "5002", "5003"].map((id) => `${id} of ${name}`);
      for (let round = 0; round < ROUNDS; round++) {
        const label = `label ${round} of ${name}`;
        expect(await createLabel(addressOf(server, name), label)).toBe(200);
        own.push(label);
        const { names: seen, next } = await listLabels(addressOf(server, name), "&limit=2");
        const rest = await listLabels(next ?? "");
        expect(rest.next === undefined || rest.next.startsWith(`${addressOf(server, name)}/`)).toBeTrue();
        expect(own).toContainValues([...seen, ...rest.names]);
        expect((await server.control("GET", `worlds/${name}/nodes/pages/2001`)).body.name).toBe(`Page of ${name}`);
      }
      expect((await listLabels(addressOf(server, name))).names).toEqual(own.toReversed());
      const logged = (await server.control("GET", `worlds/${name}/requests`)).body.data;
      expect(logged).toHaveLength(3 * ROUNDS + 1);
    };
    await Promise.all(names.map(use));
    expect((await listLabels(server.baseUrl)).status).toBe(403);
  }, 120_000);

  test("08:00 in one world and 09:00 in another: tokens and deadlines follow their own", async () => {
    const eight = Date.parse("2026-12-01T08:00:00Z") / 1_000;
    const server = await startOwnServer({ data: await newData(kind) });
    const { control } = server;
    for (const [name, now] of [
      ["eight", eight],
      ["nine", eight + 3_600],
    ] as const) {
      const file = worldOf(name);
      const tokens = [{ ...file.tokens[0], expires_at: eight + 1_800 }];
      await makeWorld(server, name, { ...file, tokens, clock: { now, frozen: true } });
    }
    const statuses = async () => [(await listLabels(addressOf(server, "eight"))).status, (await listLabels(addressOf(server, "nine"))).status];
    expect(await statuses()).toEqual([200, 403]);
    expect((await control("POST", "worlds/eight/clock/advance", { seconds: 1_800 })).body.now).toBe(eight + 1_800);
    expect(await statuses()).toEqual([403, 403]);
    expect((await control("GET", "worlds/nine/clock")).body.now).toBe(eight + 3_600);
    await control("PUT", "worlds/nine/clock", { now: eight });
    expect(await statuses()).toEqual([403, 200]);
  });
});

const openFiles = (): number => readdirSync("/proc/self/fd").length;
const temporaryFiles = (): string[] => readdirSync(tmpdir()).filter((name) => /^plaza-[A-Za-z0-9]{6}$/.test(name));

for (const where of ["in memory", "in a folder"]) {
  test(`worlds that are made, used and deleted again and again leave no file, descriptor or memory (${where})`, async () => {
    const data = where === "in memory" ? ":memory:" : temporaryFolder();
    const server = await startOwnServer({ data });
    const once = async (name: string): Promise<void> => {
      await makeWorld(server, name);
      expect(await createLabel(addressOf(server, name), "later")).toBe(200);
      await server.control("POST", `worlds/${name}/snapshots`, { name: "s" });
      await server.control("POST", `worlds/${name}/snapshots/s/restore`);
      expect((await server.control("DELETE", `worlds/${name}`)).status).toBe(200);
    };
    const many = async (from: number, count: number): Promise<void> => {
      for (let at = from; at < from + count; at++) await once(`w${at}`);
      Bun.gc(true);
    };
    const count = tries(30, 10_000);
    // The first ones fill caches and compile the program.
    await many(0, 30);
    const before = { files: openFiles(), temporary: temporaryFiles(), bytes: process.memoryUsage().rss };
    await many(1_000, count);
    // Connections that the test itself keeps come and go.
    expect(openFiles()).toBeLessThanOrEqual(before.files + 4);
    expect(temporaryFiles().filter((name) => !before.temporary.includes(name))).toEqual([]);
    // A world of which 10 kB stayed would show in the proof, which makes 10,000.
    expect(process.memoryUsage().rss - before.bytes).toBeLessThan(64 * 1024 * 1024);
    if (where === "in a folder") expect(readdirSync(data).filter((name) => name.startsWith("w"))).toEqual([]);
    expect((await server.control("GET", "worlds")).body.data).toHaveLength(1);
  }, 3_600_000);
}
