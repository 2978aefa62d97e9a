/** Calls every tool of MCP, through the protocol's own client, with right and wrong input. */
import { expect, test } from "bun:test";
import { mcpOverHttp } from "#harness/cli/mcp";
import { startReceiver } from "#harness/receiver";
import { startServer, worldFile } from "#harness/server";
import { buildRegistry } from "#main";
import { controlRoutes } from "../routes.ts";
import { toolsOf } from "./protocol.ts";
import { ANSWER_CHARACTERS_MAX, bounded } from "./tool.ts";

/** The greatest size of the list of tools, about 2,500 tokens; it is limited because an agent reads the list before each task. */
const TOOLS_BYTES_MAX = 10_500;

const worldAt = (callback: string) => ({
  clock: { now: 1_795_000_000, frozen: true },
  apps: [
    {
      ...{ id: "1001", name: "Shop", secret: "s3cret" },
      callback: { url: callback, verify_token: "v", verified: true },
      subscriptions: [{ object: "page", fields: ["live_videos"] }],
    },
  ],
  users: [{ id: "3001", name: "Ada" }],
  pages: [
    {
      ...{ id: "2001", name: "Cafe", people: [{ psid: "9001", name: "Guest" }], roles: [{ user: "3001", tasks: ["MESSAGING"] }] },
      subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }],
    },
  ],
  labels: Array.from({ length: 80 }, (_, i) => ({ id: String(5001 + i), page: "2001", name: `label ${i} ${"x".repeat(60)}` })),
  tokens: [
    { token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] },
    { token: "app-token", type: "app", app: "1001" },
  ],
});

async function connected() {
  const receiver = startReceiver();
  receiver.response = (_, count) => (count === 1 ? new Response("thanks") : new Response("no", { status: 500 }));
  const server = await startServer(["--data", ":memory:", "--sandbox", "--world", worldFile(worldAt(receiver.url))], { PLAZA_CONTROL_KEY: "key" });
  return mcpOverHttp(`${server.control_url}/mcp`, "key");
}

/** A tool call: the tool, its input, and texts that the tool's answer contains. */
type Call = readonly [tool: string, input: object, ...texts: string[]];

const path = "2001/custom_labels";
const as = "2001";
const create = (name: string) => ({ method: "POST", path, as, parameters: { page_label_name: name } });
const addFault = { action: "add", operation: "listLabels" };

/** Tool calls that succeed, in an order in which each call finds the nodes that it needs. */
const right: readonly Call[] = [
  ["status", {}, "runs", "pages: 2001 Cafe", "clock", "frozen"],
  ["find_operation", { query: "attach a label to a person" }, "page: llms/custom-labels.md", "attachLabel", "Others:"],
  ["find_operation", { query: "CREATELABEL" }, "## createLabel", "page_label_name"],
  ["read_docs", { query: "test suite vitest" }, "page: guides/testing.md"],
  ["read_docs", {}, "guides/webhooks.md", "decisions/errors.md", "llms/errors.md", "reference/world-files.md"],
  ["read_docs", { page: "reference/world-files.md" }, "… the next part begins at offset 5800 of"],
  ["read_docs", { page: "reference/world-files.md", offset: 5_800 }],
  ["send_request", { ...create("by mcp"), as: "Cafe" }, "200 ", "by mcp"],
  ["send_request", { method: "POST", path: `/v26.0/${path}`, as, body: { page_label_name: "json" } }, "200 ", "json"],
  ["send_request", { method: "GET", path, as, parameters: { limit: 100 } }, "200 ", "characters are left out. Select less"],
  ["send_request", create(""), "400 ", "refused", "createLabel"],
  ["explain_request", {}, "POST /2001/custom_labels 400", "page_label_name"],
  ["list_recent", { of: "requests", limit: 2 }, "createLabel", "400"],
  ["list_recent", { of: "app_events", app: "1001" }, "no app events"],
  ["trigger_event", { event: "page.live_videos" }, "delivered 200", "answer: thanks"],
  ["list_recent", { of: "webhooks" }, "page.live_videos of 2001", "delivered"],
  ["expect", { of: "requests", operation: "createLabel", match: { status: 400 } }, "1 seen"],
  ["expect", { of: "webhooks", field: "live_videos" }, "1 seen"],
  ["expect", { of: "app_events", app: "1001", count: 0 }, "0 seen"],
  ["make_nodes", { nodes: { labels: [{ id: "5999", page: "2001", name: "made" }] } }, "stored 1 labels"],
  ["find_nodes", { kind: "labels", id: "5999" }, '"name":"made"'],
  ["find_nodes", { kind: "labels", limit: 1 }, "there are more: after="],
  ["find_nodes", { kind: "tokens" }, '"type":"page"'],
  ["change_node", { kind: "labels", id: "5999", changes: { name: "changed" } }, '"name":"changed"'],
  ["clock", { action: "show" }, '"now":1795000000'],
  ["clock", { action: "advance", seconds: 60 }, '"now":1795000060'],
  ["clock", { action: "set", now: "2027-01-01T00:00:00Z" }, '"now":1798761600'],
  ["clock", { action: "run" }, '"frozen":false'],
  ["clock", { action: "freeze" }, '"frozen":true'],
  ["clock", { action: "next" }, '"due":'],
  ["fault", { ...addFault, status: 503, times: 1 }, '"operation":"listLabels"'],
  ["fault", { action: "list" }, '"status":503'],
  ["send_request", { method: "GET", path, as }, "503 ", "fault"],
  ["fault", { action: "clear" }, "success"],
  ["snapshot", { action: "take", name: "before" }, "before"],
  ["send_request", { method: "DELETE", path: "5999", as }, "200 "],
  ["snapshot", { action: "restore", name: "before" }, "success"],
  ["find_nodes", { kind: "labels", id: "5999" }, "changed"],
  ["snapshot", { action: "list" }, "before"],
  ["snapshot", { action: "delete", name: "before" }, "success"],
  ["snapshot", { action: "reset" }, "success"],
  // This fault makes the first of the following tool calls fail.
  ["fault", { ...addFault, reset: true, times: 1 }],
];

const leaving = ["../v1", "2001/%2e%2e/x", "w/other/2001", "/w/other/2001", "a\\b", "//example.com/x"];

/** Tool calls that fail with a message that tells the caller how to correct the call. */
const wrong: readonly Call[] = [
  ["status", { wrold: "x" }, "wrold: is not known here"],
  ["find_operation", { query: "zzz" }, "llms.txt lists all operations"],
  ["read_docs", { page: "guides/nothing.md" }, "the page guides/nothing.md does not exist"],
  ["read_docs", { page: "llms.txt", offset: 1_000_000 }, "offset: must be below "],
  ["send_request", { method: "GET", path, as }, "the response of the graph is incomplete"],
  ["send_request", { method: "PUT", path }, "method: must be one of GET, POST, DELETE"],
  ...leaving.map((one): Call => ["send_request", { method: "GET", path: one, as }, "path: "]),
  ["explain_request", { trace_id: "nothing" }, "there is no"],
  ["list_recent", { of: "app_events" }, "app: is required"],
  ["trigger_event", { event: "live_videos", entity: "2001" }, "waiting (retry) 500", "answer: no"],
  ["trigger_event", { event: "live_vidoes" }, "did you mean live_videos?"],
  ["expect", { of: "requests", operation: "listLabels", match: { status: 409 } }, "expected 1 request, saw 0", "nearest: ", '"at":"status"'],
  ["expect", { of: "app_events" }, "app: is required"],
  ["make_nodes", { nodes: { labels: [{ id: "5998", page: "2001", nam: "made" }] } }, "labels[0].nam", "did you mean name?"],
  ["find_nodes", { kind: "lables" }, "did you mean labels?"],
  ["find_nodes", { kind: "labels", id: "5999" }, "there is no"],
  ["change_node", { kind: "labels", id: "5001", changes: { nam: "x" } }, "nam is not known here"],
  ["clock", { action: "advance" }, "seconds: is required"],
  ["clock", { action: "set" }, "now: is required"],
  ["fault", { action: "clear", status: 500 }, "status: cannot be used with the action clear"],
  ["fault", { ...addFault, operation: "listLables", status: 500 }, "there is no operation listLables"],
  ["snapshot", { action: "restore" }, "name: is required to restore a snapshot"],
  ["find_node", {}, "there is no tool find_node; did you mean find_nodes?"],
];

test("each tool does what it says with right input, and says what to mend with wrong input", async () => {
  const { call } = await connected();
  const tools = [...toolsOf(controlRoutes(buildRegistry())).keys()];
  for (const [calls, isError] of [[right, false] as const, [wrong, true] as const]) {
    for (const [tool, input, ...texts] of calls) {
      const answer = await call(tool, input);
      expect({ tool, input, isError: answer.isError, text: answer.text.slice(0, 300) }).toMatchObject({ isError });
      for (const text of texts) expect({ tool, input, text: answer.text }).toEqual({ tool, input, text: expect.stringContaining(text) });
      expect({ tool, length: answer.text.length <= ANSWER_CHARACTERS_MAX }).toEqual({ tool, length: true });
    }
    expect(tools.filter((tool) => !calls.some(([called]) => called === tool))).toEqual([]);
  }
});

test("the answer with some nodes leads to the next ones", async () => {
  const { call } = await connected();
  const first = await call("find_nodes", { kind: "labels", limit: 1 });
  const [, after = ""] = /after=(\S+)$/.exec(first.text) ?? [];
  expect((await call("find_nodes", { kind: "labels", limit: 1, after })).text).toContain('"id":"5002"');
});

test("the list of tools is short, and every page is a resource", async () => {
  const { client } = await connected();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([...toolsOf(controlRoutes(buildRegistry())).keys()]);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(TOOLS_BYTES_MAX);
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  for (const uri of ["llms/personas.md", "llms/errors.md", "decisions/errors.md", "guides/webhooks.md"]) expect(uris).toContain(`plaza://${uri}`);
  const { contents } = await client.readResource({ uri: "plaza://llms/errors.md" });
  expect(contents).toEqual([{ uri: "plaza://llms/errors.md", mimeType: "text/markdown", text: expect.stringContaining("# Errors") }]);
  await expect(client.readResource({ uri: "plaza://llms/nothing.md" })).rejects.toThrow("the resource plaza://llms/nothing.md does not exist");
});

test("an answer that is cut says how much is missing and how to get it", () => {
  const line = `${"word ".repeat(20)}\n`;
  const text = line.repeat(200);
  const cut = bounded(text, "Ask for less.");
  expect(cut.length).toBeLessThanOrEqual(ANSWER_CHARACTERS_MAX);
  const [, missing] = /\n… (\d+) of 20200 characters are left out\. Ask for less\.$/.exec(cut) ?? [];
  expect(cut.slice(0, cut.lastIndexOf("\n…")).length + Number(missing)).toBe(text.length);
  expect(bounded("short", "Ask for less.")).toBe("short");
  expect(bounded("😀".repeat(5_000), "")).toMatch(/^(?:😀)+\n…/u);
});
