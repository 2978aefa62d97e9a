/** Checks that the server closes worlds that nobody uses, and that a closed world opens when somebody uses it. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { temporaryFolder } from "#harness/server";
import { closeUnusedWorlds, newData, type OwnServer, startOwnServer } from "../own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, worldOf } from "../server-of-worlds.ts";

/** Runs the check for unused worlds twice, because the first check still sees the earlier requests; a server runs it once a minute. */
async function pass(server: OwnServer): Promise<void> {
  for (let minute = 0; minute < 2; minute++) await closeUnusedWorlds(server);
}

const openIn = ({ plaza }: OwnServer): string[] => [...plaza.worlds.open()].map(({ name }) => name);

onEachDatabase("idle worlds", (kind) => {
  const start = async (): Promise<OwnServer> => startOwnServer({ data: await newData(kind) });

  test("a world without use is closed; it opens again unchanged, with its faults and its request log", async () => {
    const server = await start();
    const { control } = server;
    for (const name of ["a", "b"]) await makeWorld(server, name);
    await createLabel(addressOf(server, "a"), "later");
    await control("POST", "worlds/a/snapshots", { name: "s" });
    await control("POST", "worlds/a/faults", { operation: "listPersonas", status: 503 });
    await closeUnusedWorlds(server);
    await listLabels(addressOf(server, "b"));
    await closeUnusedWorlds(server);
    expect(openIn(server)).toEqual(["default", "b"]);
    await pass(server);
    expect(openIn(server)).toEqual(["default"]);
    expect((await control("GET", "worlds")).body.data).toMatchObject([{ name: "default", open: true }, { name: "a", open: false }, { name: "b" }]);
    expect((await listLabels(addressOf(server, "a"))).names).toEqual(["later", "5003 of a", "5002 of a", "5001 of a"]);
    expect((await control("GET", "worlds/a/faults")).body.data).toMatchObject([{ operation: "listPersonas" }]);
    const seen = (await control("GET", "worlds/a/requests")).body.data.map(({ operation }: { operation: string }) => operation);
    expect(seen).toEqual(["listLabels", "createLabel"]);
    await pass(server);
    await control("POST", "worlds/a/snapshots/s/restore");
    await control("POST", "worlds/a/reset");
    expect((await listLabels(addressOf(server, "a"))).names).toEqual(["5003 of a", "5002 of a", "5001 of a"]);
  });

  test("a world that a request holds stays open", async () => {
    const server = await start();
    await makeWorld(server, "a");
    const held = await server.plaza.worlds.hold("a");
    await pass(server);
    expect(openIn(server)).toEqual(["default", "a"]);
    held?.leave();
    await pass(server);
    expect(openIn(server)).toEqual(["default"]);
  });
});

test("an idle world opens for its work, even after a restart", async () => {
  const received: string[] = [];
  using receiver = Bun.serve({
    port: 0,
    async fetch(request) {
      received.push(await request.text());
      return new Response("", { status: received.length === 1 ? 500 : 200 });
    },
  });
  const data = temporaryFolder();
  const first = await startOwnServer({ data });
  const base = worldOf("a");
  const callback = { url: `http://127.0.0.1:${receiver.port}/`, verified: true };
  const apps = [{ ...base.apps[0], callback, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }];
  const chat = { chatapp_accounts: [{ id: "4001", name: "Chat", subscribed_apps: [{ app: "1001" }] }] };
  await makeWorld(first, "a", { ...base, apps, ...chat });
  const event = { account: "4001", field: "messages", value: { messaging_product: "chatapp", contacts: [], messages: [] } };
  expect((await first.control("POST", "worlds/a/in-app/chatapp", event)).status).toBeLessThan(300);
  while (received.length === 0) await Bun.sleep(5);
  // The retry of the webhook is due within 15 s of real time.
  for (let tries = 0; openIn(first).includes("a") && tries < 200; tries++) {
    await pass(first);
    await Bun.sleep(10);
  }
  expect(openIn(first)).toEqual(["default"]);
  await first.stop();
  const second = await startOwnServer({ data });
  while (received.length < 2) await Bun.sleep(50);
  expect(openIn(second)).toEqual(["default", "a"]);
  expect(received[1]).toBe(received[0] as string);
});
