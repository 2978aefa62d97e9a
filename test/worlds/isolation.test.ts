/** Checks many worlds that are used at once, and are created and deleted many times, each with its own time. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { onEachDatabase } from "#harness/databases";
import { tries } from "#harness/proof";
import { startReceiver } from "#harness/receiver";
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

  test("08:00 in one world and 09:00 in another: tokens, deadlines and deliveries follow their own", async () => {
    const eight = Date.parse("2026-12-01T08:00:00Z") / 1_000;
    const halfPast = eight + 1_800;
    const times = { eight, nine: eight + 3_600 };
    const names = ["eight", "nine"] as const;
    const receiver = startReceiver();
    // In each world, the first attempt to deliver a webhook fails.
    receiver.response = ({ path }) => new Response("", { status: receiver.posts.filter((post) => post.path === path).length === 1 ? 500 : 200 });
    const server = await startOwnServer({ data: await newData(kind) });
    const { control } = server;
    for (const name of names) {
      const file = worldOf(name);
      const callback = { url: receiver.url.replace("/hook", `/${name}`), verified: true };
      const made = await makeWorld(server, name, {
        ...file,
        apps: [{ ...file.apps[0], callback, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }],
        chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
        live_videos: [{ id: "5301", page: "2001", status: "SCHEDULED_LIVE", planned_start_time: halfPast }],
        tokens: [{ ...file.tokens[0], expires_at: halfPast }],
        clock: { now: times[name], frozen: true },
      });
      expect(made).toMatchObject({ status: 201 });
    }
    const ofBoth = <T>(read: (name: (typeof names)[number]) => Promise<T>): Promise<T[]> => Promise.all(names.map(read));
    const tokens = () => ofBoth(async (name) => (await listLabels(addressOf(server, name))).status);
    const videos = () => ofBoth(async (name) => (await control("GET", `worlds/${name}/nodes/live_videos/5301`)).body.status);
    const deliveries = () =>
      ofBoth(async (name) => {
        const [{ status, time, attempts }] = (await control("GET", `worlds/${name}/deliveries`)).body.data;
        return { status, time, attempts: attempts.length };
      });
    const advance = async (name: string, seconds: number) =>
      expect((await control("POST", `worlds/${name}/clock/advance`, { seconds })).status).toBe(200);

    expect(await tokens()).toEqual([200, 403]);
    while ((await videos())[1] !== "LIVE") await Bun.sleep(5);
    expect(await videos()).toEqual(["SCHEDULED_LIVE", "LIVE"]);
    const event = { account: "4001", field: "messages", value: { messaging_product: "chatapp", contacts: [], messages: [] } };
    for (const name of names) {
      expect((await control("POST", `worlds/${name}/in-app/chatapp`, event)).status).toBe(200);
      const failed = { field: "messages", status: "waiting", match: { reason: "retry" }, within_ms: 20_000 };
      expect((await control("POST", `worlds/${name}/deliveries/expect`, failed)).status).toBe(200);
    }
    await advance("nine", 60);
    expect(await deliveries()).toEqual([
      { status: "waiting", time: times.eight, attempts: 1 },
      { status: "delivered", time: times.nine, attempts: 2 },
    ]);
    await advance("eight", 1_800);
    expect((await deliveries()).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
    expect(await videos()).toEqual(["LIVE", "LIVE"]);
    expect(await tokens()).toEqual([403, 403]);
    expect((await control("GET", "worlds/nine/clock")).body.now).toBe(times.nine + 60);
    await control("PUT", "worlds/nine/clock", { now: eight });
    expect(await tokens()).toEqual([403, 200]);
  });
});

const openFiles = (): number => readdirSync("/proc/self/fd").length;
const temporaryFiles = (): string[] => readdirSync(tmpdir()).filter((name) => /^plaza-[A-Za-z0-9]{6}$/.test(name));

for (const where of ["in memory", "in a folder"]) {
  test(`worlds that are created, used and deleted again and again leave no file, descriptor or memory (${where})`, async () => {
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
    // The requests to the first worlds fill caches and make the runtime compile the program.
    await many(0, 30);
    const before = { files: openFiles(), temporary: temporaryFiles(), bytes: process.memoryUsage().rss };
    await many(1_000, count);
    // Meanwhile the test itself opens and closes connections.
    expect(openFiles()).toBeLessThanOrEqual(before.files + 4);
    expect(temporaryFiles().filter((name) => !before.temporary.includes(name))).toEqual([]);
    // A leak of 10 kB for each world would show in the proof, which makes 10,000 worlds.
    expect(process.memoryUsage().rss - before.bytes).toBeLessThan(64 * 1024 * 1024);
    if (where === "in a folder") expect(readdirSync(data).filter((name) => name.startsWith("w"))).toEqual([]);
    expect((await server.control("GET", "worlds")).body.data).toHaveLength(1);
  }, 3_600_000);
}
