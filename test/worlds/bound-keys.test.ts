/** D-170: checks in a whole server that a control key that is bound to a world sees and changes only this world. */
import { expect, test } from "bun:test";
import { controlRoutes } from "#control/routes";
import { onEachDatabase } from "#harness/databases";
import { buildRegistry } from "#main";
import { newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { listLabels, makeWorld } from "./server-of-worlds.ts";

onEachDatabase("keys that are bound to a world", (kind) => {
  async function start() {
    const server = await startOwnServer({ data: await newData(kind) });
    for (const name of ["orders", "others"]) await makeWorld(server, name);
    await listLabels(`${server.baseUrl}/w/others`);
    const bound = async (access: "full" | "read", world = "orders") => (await server.control("POST", "control-keys", { access, world })).body;
    return { server, bound };
  }

  const ask = async ({ plaza }: OwnServer, method: string, path: string, key: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(plaza.ready.control_url + path, { method, headers, ...sent });
    return { status: response.status, text: await response.text() };
  };

  test("every address of another world is answered as one of a world that does not exist, and addresses of the server are forbidden", async () => {
    const { server, bound } = await start();
    const { key } = await bound("full");
    const answered: string[] = [];
    for (const { method, path, needsNoKey } of controlRoutes(buildRegistry())) {
      if (needsNoKey === true) continue;
      const at = (world: string) => path.replace("{w}", world).replaceAll(/\{\w+\}/g, "1");
      if (!path.includes("{w}")) {
        if (path.endsWith("/rotate") && path.includes("control-keys")) continue;
        const { status } = await ask(server, method, at(""), key, method === "GET" ? undefined : {});
        if (status === 403) continue;
        answered.push(`${method} ${path} ${status}`);
      } else
        for (const world of ["others", "default", "nothing"])
          expect({ method, path, world, ...(await ask(server, method, at(world), key, method === "GET" ? undefined : {})) }).toEqual({
            ...{ method, path, world, status: 404 },
            text: JSON.stringify({ error: { code: "not_found", message: `there is no world ${world}` } }),
          });
    }
    expect(answered).toEqual(["server", "errors", "scopes", "worlds", "audit", "audit/export"].map((path) => `GET /v1/${path} 200`));
    expect(JSON.parse((await ask(server, "GET", "/v1/audit", key)).text).data).toEqual([]);
    expect(JSON.parse((await ask(server, "GET", "/v1/worlds", key)).text)).toMatchObject({ data: [{ name: "orders" }], paging: {} });
    expect((await ask(server, "GET", "/v1/worlds/orders/nodes/labels/5001", key)).text).toContain("5001 of orders");
    expect((await ask(server, "PATCH", "/v1/worlds/orders/nodes/labels/5001", key, { name: "new" })).status).toBe(200);
    expect((await listLabels(`${server.baseUrl}/w/others`)).names).toContain("5001 of others");
  });

  test("metrics have its world alone; without a key they name no world while such a key is valid", async () => {
    const { server, bound } = await start();
    const { control_url, control_key = "" } = server.plaza.ready;
    const page = async (key?: string) =>
      (await fetch(`${control_url}/metrics`, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })).text();
    expect(await page()).toContain('plaza_database_up{world="others"} 1');
    const { key, id } = await bound("read");
    await ask(server, "GET", "/v1/worlds/orders/clock", key);
    const own = await page(key);
    expect(own).toContain('plaza_database_up{world="orders"} 1');
    for (const text of ["others", "default", "plaza_calls_total"]) expect(own).not.toContain(text);
    const anonymous = await page();
    expect(anonymous).toContain("plaza_calls_total");
    expect(anonymous).not.toContain("world=");
    expect(await page(control_key)).toContain('plaza_database_up{world="others"} 1');
    expect(await page("wrong")).toContain("the control key is wrong");
    expect((await server.control("DELETE", `control-keys/${id}`)).status).toBe(200);
    expect(await page()).toContain('plaza_database_up{world="others"} 1');
  });

  test("a key keeps its world when it is replaced, and ends with its world, also if another one gets the name", async () => {
    const { server, bound } = await start();
    const first = await bound("full");
    const second = JSON.parse((await ask(server, "POST", "/v1/control-keys/rotate", first.key, {})).text);
    expect(second).toMatchObject({ access: "full", world: "orders", replaced: { world: "orders" } });
    expect((await ask(server, "GET", "/v1/worlds/others/clock", second.key)).status).toBe(404);
    expect((await ask(server, "DELETE", "/v1/worlds/orders", second.key)).status).toBe(200);
    await makeWorld(server, "orders");
    for (const { key } of [first, second]) expect((await ask(server, "GET", "/v1/worlds/orders/clock", key)).status).toBe(401);
    const unknown = await server.control("POST", "control-keys", { access: "read", world: "nothing" });
    expect(unknown).toMatchObject({ status: 422, body: { error: { parameter: "world", message: "there is no world nothing" } } });
    const ofFirst = await bound("read", "default");
    expect((await ask(server, "GET", "/v1/worlds/default/clock", ofFirst.key)).status).toBe(200);
    expect((await ask(server, "GET", "/v1/worlds/orders/clock", ofFirst.key)).status).toBe(404);
  });
});
