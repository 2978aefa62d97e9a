/** Tests MCP at the control port: control keys, the audit list, web pages, and the limits of messages. */
import { describe, expect, test } from "bun:test";
import { mcpOverHttp } from "#harness/cli/mcp";
import { KEY, openControl } from "#harness/control";
import { PageGuard } from "#kernel/page-guard";
import { buildRegistry } from "#main";
import { controlRoutes } from "../routes.ts";
import { toolsOf } from "./protocol.ts";

const KEYS = "/v1/control-keys";
const ADDRESS = "http://localhost:4001/mcp";

async function opened(...options: Parameters<typeof openControl>) {
  const control = await openControl(...options);
  const { app, request } = control;
  const keyOf = async (body: object): Promise<string> => (await request("POST", KEYS, body)).body.key;
  const send = async (url: string | URL, init?: RequestInit) => app.request(String(url), init);
  const as = (key: string, query = "", revision: "auto" | "legacy" = "legacy") => mcpOverHttp(ADDRESS + query, key, { send, revision });
  const post = (body: string, headers: Record<string, string> = {}) =>
    app.request(ADDRESS, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body,
    });
  return { ...control, keyOf, as, post };
}

/** An input for each of the tools that act (`acting-tools.ts`). */
const acting: Readonly<Record<string, object>> = {
  send_request: { method: "POST", path: "2001/custom_labels", parameters: { page_label_name: "x" } },
  trigger_event: { event: "page.live_videos", entity: "2001" },
  expect: { of: "requests", count: 0 },
  make_nodes: { nodes: { labels: [{ id: "5009", page: "2001", name: "new" }] } },
  change_node: { kind: "labels", id: "5001", changes: { name: "new" } },
  clock: { action: "freeze" },
  fault: { action: "add", operation: "listLabels", status: 500 },
  snapshot: { action: "take", name: "a" },
};

describe("what a key allows through MCP", () => {
  test("a key with the access read looks, and every tool that acts is refused", async () => {
    const { as, keyOf, request } = await opened();
    const reader = await as(await keyOf({ access: "read" }));
    for (const [name, { isReading }] of toolsOf(controlRoutes(buildRegistry()))) {
      if (isReading) continue;
      expect({ name, ...(await reader.call(name, acting[name])) }).toEqual({ name, text: "this key may only read", isError: true });
    }
    const signed = await reader.call("send_request", { method: "GET", path: "2001/custom_labels", as: "2001" });
    expect(signed).toEqual({ text: "as: 2001 has no valid token; plaza token mint creates one", isError: true });
    expect((await reader.call("find_nodes", { kind: "labels" })).text).toContain('"name":"vip"');
    expect((await reader.call("status")).isError).toBe(false);
    const apps = await reader.call("find_nodes", { kind: "apps" });
    expect(apps).toEqual({ text: expect.stringContaining('"name":"Shop"'), isError: false });
    expect(apps.text).not.toContain("s3cret");
    expect((await request("GET", "nodes/labels")).body.data).toHaveLength(3);
  });

  test("a key of a world uses that world, and no other one", async () => {
    const { as, keyOf } = await opened();
    const key = await keyOf({ access: "full", world: "default" });
    expect((await (await as(key)).call("find_nodes", { kind: "labels", id: "5001" })).isError).toBe(false);
    expect(await (await as(key, "?world=other")).call("find_nodes", { kind: "labels" })).toEqual({ text: "there is no world other", isError: true });
    expect((await (await as(key)).call("status")).text).toContain("pages: 2001 Cafe");
  });

  test("the audit list has an entry for what a tool changed and for what was refused, and none for what it only read", async () => {
    const { as, keyOf, request } = await opened();
    const [full, reader] = [await as(await keyOf({ access: "full", name: "agent" })), await as(await keyOf({ access: "read", name: "dashboard" }))];
    await full.call("make_nodes", acting.make_nodes);
    await full.call("find_nodes", { kind: "labels" });
    await reader.call("snapshot", acting.snapshot);
    const { data } = (await request("GET", "/v1/audit")).body as { data: { key_name: string; operation: string; status: number }[] };
    const seen = data.map(({ key_name, operation, status }) => ({ key_name, operation, status }));
    expect(seen.filter(({ key_name }) => key_name !== "configured")).toEqual([
      { key_name: "dashboard", operation: "takeSnapshot", status: 403 },
      { key_name: "agent", operation: "importWorld", status: 200 },
    ]);
  });

  test("without a valid key there is no MCP", async () => {
    const { app } = await opened();
    for (const headers of [{}, { authorization: "Bearer wrong" }] as Record<string, string>[])
      expect((await app.request(ADDRESS, { method: "POST", headers, body: "{}" })).status).toBe(401);
  });
});

describe("web pages and limits", () => {
  const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

  test("a page of another site is refused, with the rules of a sandbox and without", async () => {
    const sandbox = await opened({}, {}, new PageGuard({ origins: ["https://app.example.com"], hosts: [] }));
    const plain = await opened();
    const statusAt = async ({ post }: Pick<typeof plain, "post">, headers: Record<string, string>) => (await post(list, headers)).status;
    for (const one of [sandbox, plain]) {
      expect(await statusAt(one, { origin: "https://evil.example" })).toBe(403);
      expect(await statusAt(one, {})).toBe(200);
    }
    expect(await statusAt(sandbox, { origin: "https://app.example.com" })).toBe(200);
    expect(await statusAt(sandbox, { host: "evil.example" })).toBe(403);
    expect(await statusAt(plain, { host: "plaza.example", origin: "https://plaza.example" })).toBe(200);
    expect(await statusAt(plain, { host: "plaza.example", origin: "null" })).toBe(403);
  });

  test("the response is JSON; there are no sessions and no streams", async () => {
    const { post, app } = await opened();
    const response = await post(list);
    expect(response.headers.get("mcp-session-id")).toBeNull();
    const get = await app.request(ADDRESS, { headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" } });
    expect(get.status).toBe(405);
  });

  test("clients of both revisions of the protocol are served, and none can keep a stream open", async () => {
    const { as } = await opened();
    for (const [revision, version] of [["legacy", "2025-11-25"] as const, ["auto", "2026-07-28"] as const]) {
      const { client, call } = await as(KEY, "", revision);
      expect({ name: client.getServerVersion()?.name, version: client.getNegotiatedProtocolVersion() }).toEqual({ name: "plaza", version });
      expect((await call("clock", { action: "show" })).isError).toBe(false);
      if (revision === "auto") await expect(client.listen({ toolsListChanged: true })).rejects.toThrow("limit");
    }
  });

  test("a message that is too large, too deep, not JSON, or one of too many is refused before any tool runs", async () => {
    const { post } = await opened();
    const refused = async (body: string) => {
      const response = await post(body);
      return { status: response.status, message: ((await response.json()) as { error: { message: string } }).error.message };
    };
    expect(await refused(`{"a":"${"x".repeat(4 * 1024 * 1024)}"}`)).toMatchObject({ status: 413 });
    expect(await refused("[".repeat(5_000))).toMatchObject({ status: 400 });
    expect(await refused("{")).toEqual({ status: 400, message: "the body is not valid JSON" });
    expect(await refused(list.replace('"params":{}', '"params":{"id":12345678901234567890}'))).toMatchObject({ status: 400 });
    expect(await refused(`[${Array.from({ length: 21 }, () => list).join()}]`)).toEqual({ status: 400, message: "a batch has 20 messages at most" });
    expect((await post(`[${list},${list}]`)).status).toBe(200);
  });
});
