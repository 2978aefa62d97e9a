import { expect, test } from "bun:test";
import { hashOf } from "#auth/tokens";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { everyValue } from "#harness/search/stored-values";
import { buildRegistry } from "#main";
import { controlRoutes } from "../../routes.ts";

const KEYS = "/v1/control-keys";
const HOUR_MS = 3_600_000;

onEachDatabase("D-170: keys of the control API", (database) => {
  test("a key with the access read may GET everything, and nothing else", async () => {
    const { request, app } = await openControl({ database });
    const created = await request("POST", KEYS, { access: "read", name: "dashboard" });
    expect(created).toMatchObject({ status: 201, body: { access: "read", name: "dashboard", expires_at: 0 } });
    const key = created.body.key as string;
    for (const route of controlRoutes(buildRegistry())) {
      const path = route.path
        .replace("{w}", "default")
        .replace("{key}", "labels")
        .replace("{id}", "5001")
        .replace(/\{\w+\}/g, "1");
      if (route.method !== "GET" && route.needsNoKey !== true)
        expect(await request(route.method, path, {}, key)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
    }
    expect((await request("GET", "nodes/labels/5001", undefined, key)).body).toMatchObject({ name: "vip" });
    expect((await request("GET", "export", undefined, key)).status).toBe(200);
    const head = await app.request("/v1/worlds", { method: "HEAD", headers: { authorization: `Bearer ${key}` } });
    expect(head.status).toBe(200);
    // The refused requests have neither deleted a label nor created a control key.
    expect((await request("GET", "nodes/labels")).body.data).toHaveLength(3);
    expect((await request("GET", KEYS)).body.data).toHaveLength(1);
  });

  test("only hashes are stored, and no list shows a value", async () => {
    const { request, plaza } = await openControl({ database });
    const { body } = await request("POST", KEYS, { access: "full" });
    const listed = await request("GET", KEYS);
    expect(listed.body.data).toEqual([{ id: body.id, name: "", access: "full", created_at: 1_795_000_000, expires_at: 0 }]);
    const rows = (await everyValue(plaza.world.database)).filter(({ table }) => table === "control_keys");
    expect(rows).toContainEqual({ table: "control_keys", column: "hash", text: hashOf(body.key) });
    expect(JSON.stringify(rows)).not.toContain(body.key);
  });

  test("a key ends at its time, or when it is revoked; it cannot revoke itself", async () => {
    const { request, plaza } = await openControl({ database });
    const short = (await request("POST", KEYS, { access: "full", expires_at: 1_795_003_600 })).body;
    expect((await request("GET", "/v1/worlds", undefined, short.key)).status).toBe(200);
    expect((await request("DELETE", `${KEYS}/${short.id}`, undefined, short.key)).status).toBe(409);
    plaza.time.realMs += HOUR_MS;
    expect((await request("GET", "/v1/worlds", undefined, short.key)).status).toBe(401);
    const long = (await request("POST", KEYS, { access: "read" })).body;
    expect((await request("DELETE", `${KEYS}/${long.id}`)).body).toEqual({ success: true });
    expect((await request("GET", "/v1/worlds", undefined, long.key)).status).toBe(401);
    for (const id of [short.id, long.id, "1", "x"]) expect((await request("DELETE", `${KEYS}/${id}`)).status).toBe(404);
    for (const expires_at of [1_795_000_000, Number.MAX_SAFE_INTEGER])
      expect((await request("POST", KEYS, { access: "full", expires_at })).body.error).toMatchObject({ parameter: "expires_at" });
    expect((await request("POST", KEYS, { access: "some" })).body.error).toMatchObject({ code: "bad_request", parameter: "access" });
  });

  test("a replaced key is valid for the overlap, and then refused, even if a server is started with it again", async () => {
    const { request, plaza, restart } = await openControl({ database });
    const replaced = await request("POST", `${KEYS}/rotate`, { overlap_seconds: 3_600 });
    expect(replaced).toMatchObject({
      status: 201,
      body: { access: "full", expires_at: 0, replaced: { name: "configured", expires_at: 1_795_003_600 } },
    });
    const key = replaced.body.key as string;
    for (const valid of [KEY, key]) expect((await request("GET", "/v1/worlds", undefined, valid)).status).toBe(200);
    plaza.time.realMs += HOUR_MS;
    const again = restart();
    expect((await request("GET", "/v1/worlds")).status).toBe(401);
    expect((await again.request("GET", "/v1/worlds")).status).toBe(401);
    expect((await again.request("GET", "/v1/worlds", undefined, key)).status).toBe(200);
  });

  test("a replaced key is valid for a day by default, and a name can have 200 characters", async () => {
    const { request } = await openControl({ database });
    const name = "x".repeat(200);
    const { body, status } = await request("POST", KEYS, { access: "full", name });
    expect({ status, name: body.name }).toEqual({ status: 201, name });
    expect((await request("POST", KEYS, { access: "full", name: `${name}x` })).body.error).toMatchObject({ parameter: "name" });
    expect((await request("POST", `${KEYS}/rotate`, {}, body.key)).body.replaced.expires_at).toBe(1_795_000_000 + 86_400);
    for (const overlap_seconds of [-1, 30 * 86_400 + 1])
      expect((await request("POST", `${KEYS}/rotate`, { overlap_seconds })).body.error).toMatchObject({ parameter: "overlap_seconds" });
    const longest = (await request("POST", `${KEYS}/rotate`, { overlap_seconds: 30 * 86_400 })).body;
    expect(longest.replaced.expires_at).toBe(1_795_000_000 + 30 * 86_400);
  });

  test("times are whole seconds during which a key is valid; one that would already have ended is refused, and so is a misspelt key", async () => {
    const { request, plaza } = await openControl({ database });
    const make = async (more: object) => (await request("POST", KEYS, { access: "full", ...more })).body;
    expect((await make({ expires_at: 1_795_000_000 })).error).toMatchObject({ parameter: "expires_at" });
    expect(await make({ expires_at: 1_795_000_001 })).toMatchObject({ expires_at: 1_795_000_001 });
    expect((await make({ expire_at: 1_795_000_001 })).error).toMatchObject({ code: "bad_request" });
    expect((await request("POST", `${KEYS}/rotate`, { overlap: 1 })).body.error).toMatchObject({ code: "bad_request" });
    plaza.time.realMs += 500;
    const { key, ...made } = await make({ expires_at: 0 });
    expect(made).toMatchObject({ created_at: 1_795_000_000, expires_at: 0 });
    expect((await request("POST", `${KEYS}/rotate`, { overlap_seconds: 1 }, key)).body.replaced.expires_at).toBe(1_795_000_002);
  });

  test("replacing a stored key keeps its access and name, and never makes it valid for longer", async () => {
    const { request, plaza } = await openControl({ database });
    const first = (await request("POST", KEYS, { access: "full", name: "deploy", expires_at: 1_795_000_060 })).body;
    const second = (await request("POST", `${KEYS}/rotate`, {}, first.key)).body;
    expect(second).toMatchObject({ access: "full", name: "deploy", replaced: { id: first.id, expires_at: 1_795_000_060 } });
    plaza.time.realMs += 60_000;
    expect((await request("GET", "/v1/worlds", undefined, first.key)).status).toBe(401);
    const third = (await request("POST", `${KEYS}/rotate`, { overlap_seconds: 0 }, second.key)).body;
    expect((await request("GET", "/v1/worlds", undefined, second.key)).status).toBe(401);
    expect((await request("GET", "/v1/worlds", undefined, third.key)).status).toBe(200);
    expect((await request("GET", "/v1/worlds")).status).toBe(200);
  });
});
