/** Checks several processes that share the graph's port and the worlds. */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startReceiver } from "#harness/receiver";
import { startServer } from "#harness/server";
import { closeUnusedWorlds, newData, startOwnServer } from "../own-server.ts";
import { addressOf, createLabel, listLabels, makeWorld, subscribed, worldOf } from "../server-of-worlds.ts";

/** The time limit for other processes to hear of a change. The other processes hear of the change within a second, but the machine may be busy. */
const HEARD_WITHIN_MS = 10_000;

test("a world that one process creates, resets or deletes changes in all of them, and its requests are in one log", async () => {
  const server = await startServer(["--data", await (await sharedPostgres()).newDatabase(), "--workers", "2"]);
  const control = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${server.control_key}` };
    const response = await fetch(`${server.control_url}/v1/worlds${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as { data?: unknown[] } };
  };
  const base = `${server.base_url}/w/orders`;
  /** Each request opens a connection of its own, so that both workers get requests. */
  const seen = async (): Promise<string[]> => {
    const all = await Promise.all(Array.from({ length: 8 }, () => listLabels(base, "", { connection: "close" })));
    return [...new Set(all.map(({ status, names }) => `${status} ${names.sort().join(", ")}`))];
  };
  const seenSoon = async (expected: string): Promise<void> => {
    const until = performance.now() + HEARD_WITHIN_MS;
    while (performance.now() < until && (await seen()).join() !== expected) await Bun.sleep(20);
    expect(await seen()).toEqual([expected]);
  };
  expect((await control("POST", "", { name: "orders", file: worldOf("orders") })).status).toBe(201);
  const made = "200 5001 of orders, 5002 of orders, 5003 of orders";
  expect(await seen()).toEqual([made]);
  expect(await createLabel(base, "later")).toBe(200);
  await seenSoon(`${made}, later`);
  expect((await control("POST", "/orders/requests/expect", { operation: "createLabel", within_ms: HEARD_WITHIN_MS })).status).toBe(200);
  expect((await control("GET", "/default/requests")).body.data).toEqual([]);
  expect((await control("POST", "/orders/reset")).status).toBe(200);
  await seenSoon(made);
  expect((await control("DELETE", "/orders")).status).toBe(200);
  await seenSoon("403 ");
  const again = { ...worldOf("orders"), labels: [{ id: "5009", page: "2001", name: "new" }] };
  expect((await control("POST", "", { name: "orders", file: again })).status).toBe(201);
  await seenSoon("200 new");
});

test("if two servers create a world of one name at once one does, and nothing of the other's content is stored", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const servers = [await startServer(["--data", data]), await startServer(["--data", data])] as const;
  const ask = async ({ control_url, control_key }: (typeof servers)[0], method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${control_key}` };
    const response = await fetch(`${control_url}/v1/worlds${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: (await response.json()) as { data: { name: string }[] } };
  };
  for (let round = 0; round < 5; round++) {
    const name = `orders-${round}`;
    const of = (server: number) => ({ ...worldOf(name), labels: [{ id: `500${server}`, page: "2001", name: `of server ${server}` }] });
    const made = await Promise.all(servers.map((server, at) => ask(server, "POST", "", { name, file: of(at) })));
    const winner = made.findIndex(({ status }) => status === 201);
    expect(made.map(({ status }) => status)).toEqual(winner === 0 ? [201, 409] : [409, 201]);
    const labels = await Promise.all(servers.map((server) => ask(server, "GET", `/${name}/nodes/labels`)));
    expect(labels.map(({ body }) => body.data.map((label) => label.name))).toEqual([[`of server ${winner}`], [`of server ${winner}`]]);
  }
});

test("another process opens the worlds of a killed process, and their deliveries continue", async () => {
  const receiver = startReceiver();
  const { promise: never } = Promise.withResolvers<Response>();
  receiver.response = (_, count) => (count === 1 ? never : new Response("taken"));
  const data = await newData("postgres");
  const other = await startOwnServer({ data });
  await makeWorld(other, "orders", subscribed("orders", receiver.url));
  // The world was created and has not been used since.
  for (let pass = 0; pass < 2; pass++) await closeUnusedWorlds(other);
  const openThere = () => [...other.plaza.worlds.open()].map(({ name }) => name);
  expect(openThere()).toEqual(["default"]);
  const killed = await startServer(["--data", data]);
  expect(await createLabel(`${killed.base_url}/w/orders`, "later")).toBe(200);
  while (receiver.posts.length === 0) await Bun.sleep(10);
  expect(openThere()).toEqual(["default"]);
  await killed.kill();
  while (receiver.posts.length === 1) await Bun.sleep(50);
  expect(openThere()).toEqual(["default", "orders"]);
  const [sent, again] = receiver.posts.map(({ headers }) => headers["webhook-id"]);
  expect(sent).toStartWith("msg_");
  expect(again).toBe(sent as string);
});

test("the followers of a world's requests continue when another server restores the world", async () => {
  const data = await newData("postgres");
  const [here, there] = [await startOwnServer({ data }), await startOwnServer({ data })];
  await makeWorld(here, "orders");
  await here.control("POST", "worlds/orders/snapshots", { name: "s" });
  const { control_url, control_key } = here.plaza.ready;
  const stream = await fetch(`${control_url}/v1/worlds/orders/requests?operation=createLabel`, {
    headers: { authorization: `Bearer ${control_key}`, accept: "text/event-stream" },
  });
  expect(await createLabel(addressOf(here, "orders"), "before")).toBe(200);
  expect((await there.control("POST", "worlds/orders/snapshots/s/restore")).status).toBe(200);
  while ((await listLabels(addressOf(here, "orders"))).names.includes("before")) await Bun.sleep(10);
  expect(await createLabel(addressOf(here, "orders"), "after")).toBe(200);
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of stream.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes("page_label_name=after")) break;
  }
  expect(text).toContain("page_label_name=before");
});
