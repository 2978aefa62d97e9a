/** Makes requests to each route of the control API that are as large as its limits allow. */
import { controlRoutes } from "#control/routes";
import type { ControlRoute } from "#control-contract/route";
import { nodeOfType } from "#harness/full-world";
import { buildRegistry } from "#main";
import { hostileJson, type Load, type Served, type Sizes } from "./load.ts";

/** Operations that are left out, because they end the server or change keys that other loads need. */
const LEFT_OUT: readonly string[] = ["stopServer", "rotateControlKey", "rotateSealingKey"];
const VALUES: Readonly<Record<string, string>> = {
  ...{ w: "default", key: "labels", id: "5301", n: "1", app: "1001", name: "kept", trace_id: "A1", object: "page", field: "custom_labels" },
};
const IDS: readonly [path: RegExp, id: string][] = [
  [/\/nodes\//, "5001"],
  [/\/feeds\//, nodeOfType.product_feed as string],
  [/\/people\//, "9001"],
];

const addressOf = ({ path }: ControlRoute): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(name === "id" ? (IDS.find(([pattern]) => pattern.test(path))?.[1] ?? "5301") : (VALUES[name] ?? "1")),
  );

async function send(server: Served, method: string, path: string, body?: string): Promise<string> {
  const ofBody = body === undefined ? {} : { "content-type": "application/json" };
  const ofMcp = path === "/mcp" ? { accept: "application/json, text/event-stream" } : {};
  const response = await fetch(`${server.control_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.control_key}`, ...ofBody, ...ofMcp },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(60_000),
  });
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) await response.body?.cancel();
  else await response.arrayBuffer();
  return String(response.status);
}

/** A world file with many labels. */
const labelsFile = (count: number): string =>
  JSON.stringify({
    pages: [{ id: "2999" }],
    labels: Array.from({ length: count }, (_, at) => ({ id: String(700_000 + at), page: "2999", name: `l${at}` })),
  });
const labelsYaml = (count: number): string =>
  `pages:\n- {id: "2999"}\nlabels:\n${Array.from({ length: count }, (_, at) => `- {id: "${700_000 + at}", page: "2999", name: l${at}}\n`).join("")}`;

/** The size limits of a form, and of a JSON body without a world file. */
const FORM_BYTES_MAX = 16_000;
const JSON_BYTES_MAX = 2 * 1_048_576;

/** A call of an MCP tool. */
const calling = (tool: string, input: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${input}}}`;

/**
 * `bodyBytes` is the size of request bodies that contain a world file. Request bodies that are a world file alone are twice as long. `nodes` is the
 * number of nodes in a world file. Of a streamed response, the load reads only the first part.
 */
export function controlLoads({ bodyBytes, queryBytes }: Sizes, nodes: number): Load[] {
  const registry = buildRegistry();
  const loads: Load[] = [];
  for (const route of controlRoutes(registry)) {
    const { method, operation, body, fileMember, query } = route;
    if (LEFT_OUT.includes(operation)) continue;
    const address = addressOf(route);
    const add = (shape: string, more = "", sent?: string): void => {
      loads.push({ work: operation, shape, send: (server) => send(server, method, `${address}${more}`, sent) });
    };
    if (method === "GET" && operation !== "exportWorld")
      add("the largest page", query !== undefined && "limit" in query.properties ? "?limit=100" : "");
    if (query !== undefined) {
      const [name = "q"] = Object.keys(query.properties);
      add(
        "query: most fields",
        `?${Array.from({ length: Math.floor(queryBytes / 8) }, (_, at) => `f${at}=1`)
          .join("&")
          .slice(0, queryBytes)}`,
      );
      add("query: one text", `?${name}=${"x".repeat(queryBytes)}`);
    }
    if (body === undefined || body === "file") continue;
    const names = typeof body === "object" ? Object.keys((body as { properties?: object }).properties ?? {}) : ["labels"];
    const first = fileMember ?? names[0] ?? "name";
    const jsonBytes = body === "form" ? FORM_BYTES_MAX : body === "text" ? 2 * bodyBytes : fileMember ? bodyBytes : JSON_BYTES_MAX;
    const bytes = Math.min(jsonBytes, body === "text" ? Number.POSITIVE_INFINITY : bodyBytes);
    for (const [shape, text] of Object.entries(hostileJson(bytes - 100, first))) add(`JSON: ${shape}`, "", text);
  }
  for (const [shape, text] of Object.entries(hostileJson(Math.min(bodyBytes, JSON_BYTES_MAX) - 200, "labels")))
    for (const tool of ["make_nodes", "send_request"])
      loads.push({ work: `mcp ${tool}`, shape: `JSON: ${shape}`, send: (server) => send(server, "POST", "/mcp", calling(tool, text)) });
  const whole = (operation: string, method: string, path: string, shape: string, body?: string): void => {
    const isLongWrite = operation === "importWorld" ? { isLongWrite: true } : {};
    loads.push({ work: operation, shape, ...isLongWrite, send: (server) => send(server, method, path, body) });
  };
  for (const [shape, text] of [
    ["JSON", labelsFile(nodes)],
    ["YAML", labelsYaml(nodes)],
  ] as const)
    whole("importWorld", "POST", "/v1/worlds/default/import?merge=true", `honest ${shape}`, text);
  whole("exportWorld", "GET", "/v1/worlds/default/export", "a large world");
  whole("takeSnapshot", "POST", "/v1/worlds/default/snapshots", "a large world", JSON.stringify({ name: "large" }));
  whole("createWorld", "POST", "/v1/worlds", "honest, with a file", JSON.stringify({ name: "another", file: labelsFile(Math.floor(nodes / 4)) }));
  return loads;
}
