/** Several processes share the port of the graph and the worlds. */
import { expect, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startServer } from "#harness/server";
import { createLabel, listLabels, worldOf } from "./server-of-worlds.ts";

/** Other processes hear of a change within a second; the machine may be busy. */
const HEARD_WITHIN_MS = 10_000;

test("a world that one process makes, resets or deletes is so in all of them, and its requests are in one log", async () => {
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
  /** On connections of their own, so that both workers are asked. */
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
  await seenSoon("400 ");
  const again = { ...worldOf("orders"), labels: [{ id: "5009", page: "2001", name: "new" }] };
  expect((await control("POST", "", { name: "orders", file: again })).status).toBe(201);
  await seenSoon("200 new");
}, 60_000);
