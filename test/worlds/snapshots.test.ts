/** Checks snapshots, restores and resets through the control API and the graph, on both databases. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { temporaryFolder, worldFile } from "#harness/server";
import { sql } from "#storage/sql";
import { newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, worldOf } from "./server-of-worlds.ts";

const namesIn = async (server: OwnServer, world: string): Promise<string[]> => (await listLabels(addressOf(server, world))).names.sort();

/** Everything in an export except the time of the clock, which goes on. */
async function exported({ control }: OwnServer, world: string): Promise<unknown> {
  const { clock: _, ...state } = (await control("GET", `worlds/${world}/export?secrets=true`)).body;
  return state;
}

onEachDatabase("snapshots", (kind) => {
  const start = async (options: Record<string, unknown> = {}): Promise<OwnServer> => startOwnServer({ data: await newData(kind), ...options });

  test("a restored world is as it was when the snapshot was taken, and others are unchanged", async () => {
    const server = await start();
    const { control } = server;
    for (const name of ["a", "b"]) await makeWorld(server, name);
    expect(await control("POST", "worlds/a/snapshots", { name: "before" })).toEqual({ status: 201, body: { name: "before" } });
    const before = await exported(server, "a");
    for (const name of ["a", "b"]) expect(await createLabel(addressOf(server, name), "later")).toBe(200);
    await control("DELETE", "worlds/a/nodes/labels/5002");
    await control("POST", "worlds/a/tokens", { type: "app", app: "1001" });
    expect(await namesIn(server, "a")).toEqual(["5001 of a", "5003 of a", "later"]);
    expect(await control("POST", "worlds/a/snapshots/before/restore")).toEqual({ status: 200, body: { success: true } });
    expect(await exported(server, "a")).toEqual(before);
    expect(await namesIn(server, "a")).toEqual(["5001 of a", "5002 of a", "5003 of a"]);
    expect(await namesIn(server, "b")).toEqual(["5001 of b", "5002 of b", "5003 of b", "later"]);
    expect(await createLabel(addressOf(server, "a"), "later")).toBe(200);
    expect((await control("POST", "worlds/a/snapshots/before/restore")).status).toBe(200);
    expect(await namesIn(server, "a")).toEqual(["5001 of a", "5002 of a", "5003 of a"]);
  });

  test("the time is that of the snapshot: stopped there, or continuing from there", async () => {
    const server = await start();
    const { control } = server;
    await control("POST", "worlds", { name: "a", file: { clock: { now: 1_795_000_000, frozen: true } } });
    await control("POST", "worlds/a/snapshots", { name: "frozen" });
    await control("PUT", "worlds/a/clock", { now: 1_800_000_000, frozen: false });
    await control("POST", "worlds/a/snapshots", { name: "running" });
    await control("POST", "worlds/a/clock/advance", { seconds: 1_000_000 });
    await control("POST", "worlds/a/snapshots/running/restore");
    const { now, frozen } = (await control("GET", "worlds/a/clock")).body;
    expect(frozen).toBeFalse();
    expect(now).toBeWithin(1_800_000_000, 1_800_000_100);
    await control("POST", "worlds/a/snapshots/frozen/restore");
    expect((await control("GET", "worlds/a/clock")).body).toEqual({ now: 1_795_000_000, frozen: true });
  });

  test("a reset world is as it was created, with empty caches; its snapshots stay", async () => {
    const server = await start();
    const { control } = server;
    await makeWorld(server, "a", { ...worldOf("a"), profile: "clients" });
    const made = await exported(server, "a");
    await control("POST", "worlds", { name: "bare" });
    await control("POST", "worlds/bare/import", worldOf("bare"));
    await createLabel(addressOf(server, "a"), "later");
    await control("POST", "worlds/a/snapshots", { name: "with-later" });
    await control("POST", "worlds/a/import", { profile: "strict" });
    await control("POST", "worlds/a/faults", { operation: "*", status: 503 });
    expect(await control("POST", "worlds/a/reset")).toEqual({ status: 200, body: { success: true } });
    expect(await exported(server, "a")).toEqual(made);
    expect((await control("GET", "worlds/a/requests")).body.data).toEqual([]);
    expect((await control("GET", "worlds/a/faults")).body.data).toEqual([]);
    expect(await namesIn(server, "a")).toEqual(["5001 of a", "5002 of a", "5003 of a"]);
    await control("POST", "worlds/a/snapshots/with-later/restore");
    expect(await namesIn(server, "a")).toContain("later");
    await control("POST", "worlds/bare/reset");
    expect((await control("GET", "worlds/bare/nodes/pages")).body.data).toEqual([]);
  });

  test("the first world is reset to the server's initial content; control keys and other worlds stay", async () => {
    const server = await start({ world: worldFile(worldOf("file")) });
    const { control } = server;
    await makeWorld(server, "a");
    await control("POST", "control-keys", { access: "read", name: "reader" });
    await createLabel(server.baseUrl, "later");
    await control("POST", "worlds/default/snapshots", { name: "s" });
    expect((await control("POST", "worlds/default/reset")).status).toBe(200);
    expect(await namesIn(server, "default")).toEqual(["5001 of file", "5002 of file", "5003 of file"]);
    expect((await control("POST", "worlds/default/snapshots/s/restore")).status).toBe(200);
    expect(await namesIn(server, "default")).toContain("later");
    expect((await control("GET", "control-keys")).body.data).toMatchObject([{ name: "reader" }]);
    expect(await namesIn(server, "a")).toEqual(["5001 of a", "5002 of a", "5003 of a"]);
  });

  test("the first world of a sandbox is reset to the complete demo world, and continues from there", async () => {
    const { control } = await start();
    const feeds = async () => {
      const { data } = (await control("GET", "worlds/default/nodes/product_feeds")).body;
      return (data as { id: string; items: { retailer_id: string }[] }[]).map(({ id, items }) => [id, ...items.map((item) => item.retailer_id)]);
    };
    const made = await feeds();
    expect(made).not.toBeEmpty();
    for (let round = 0; round < 2; round++) {
      expect((await control("POST", "worlds/default/nodes/product_feeds", { catalog: "8001" })).status).toBe(201);
      expect(await control("POST", "worlds/default/reset")).toEqual({ status: 200, body: { success: true } });
      expect(await feeds()).toEqual(made);
    }
  });

  test("D-172: erasing a person also deletes the saved states of the world", async () => {
    const { control } = await start();
    await control("POST", "worlds", { name: "a", file: { users: [{ id: "3001", name: "Ada" }] } });
    await control("POST", "worlds/a/snapshots", { name: "s" });
    const { id } = (await control("DELETE", "worlds/a/people/3001")).body;
    const ended = async () => (await control("GET", `worlds/a/erasures/${id}`)).body;
    while ((await ended()).status === "running") await Bun.sleep(5);
    expect((await control("GET", "worlds/a/snapshots")).body.data).toEqual([]);
    await control("POST", "worlds/a/reset");
    expect((await control("GET", "worlds/a/nodes/users")).body.data).toEqual([]);
  });

  test("snapshots are listed and deleted; a missing one is not found", async () => {
    const { control } = await start();
    await control("POST", "worlds", { name: "a", file: {} });
    for (const name of ["one", "two"]) await control("POST", "worlds/a/snapshots", { name });
    const listed = async () => (await control("GET", "worlds/a/snapshots")).body.data.map(({ name }: { name: string }) => name).sort();
    expect(await listed()).toEqual(["one", "two"]);
    expect(await control("DELETE", "worlds/a/snapshots/one")).toEqual({ status: 200, body: { success: true } });
    expect(await listed()).toEqual(["two"]);
    for (const [method, path] of [
      ["POST", "worlds/a/snapshots/one/restore"],
      ["POST", "worlds/a/snapshots/_beginning/restore"],
      ["DELETE", "worlds/a/snapshots/_beginning"],
      ["DELETE", "worlds/a/snapshots/..%2F..%2Fdefault"],
      ["POST", "worlds/nothing/snapshots/two/restore"],
      ["POST", "worlds/nothing/reset"],
      ["GET", "worlds/nothing/snapshots"],
    ] as const)
      expect({ path, status: (await control(method, path)).status }).toEqual({ path, status: 404 });
    expect(await control("POST", "worlds/a/snapshots", { name: "../x" })).toMatchObject({ status: 400, body: { error: { parameter: "name" } } });
    expect((await control("POST", "worlds/nothing/snapshots", { name: "x" })).status).toBe(404);
  });
});

test("worlds of a folder and their snapshots survive a restart; a deleted world leaves no file", async () => {
  const data = temporaryFolder();
  const first = await startOwnServer({ data });
  await makeWorld(first, "a");
  await first.control("POST", "worlds/a/snapshots", { name: "s" });
  await createLabel(addressOf(first, "a"), "later");
  await first.stop();
  const second = await startOwnServer({ data });
  expect(await namesIn(second, "a")).toContain("later");
  await second.control("POST", "worlds/a/snapshots/s/restore");
  expect(await namesIn(second, "a")).not.toContain("later");
  await second.control("POST", "worlds/a/reset");
  expect(await namesIn(second, "a")).toEqual(["5001 of a", "5002 of a", "5003 of a"]);
  await second.control("DELETE", "worlds/a");
  expect([...new Bun.Glob("**/*").scanSync(data)].filter((file) => /\ba\b/.test(file))).toEqual([]);
});

test("a reset is one commit, only of the world: the list of worlds already has it as open", async () => {
  const server = await startOwnServer({ data: temporaryFolder() });
  await makeWorld(server, "a");
  const noted = () => server.plaza.worlds.default.database.reader.all(sql`SELECT o.name, o.until_ms FROM open_worlds o`);
  const before = await noted();
  expect(before).toMatchObject([{ name: "a" }]);
  // After this pause, a newly set time would differ from the old one.
  await Bun.sleep(2);
  await server.control("POST", "worlds/a/reset");
  expect(await noted()).toEqual(before);
});
