/** Makes requests of each operation of the graph that are as large as its limits allow. */
import { gzipSync } from "node:zlib";
import type { Endpoint } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import { nodeOfType } from "#harness/full-world";
import { buildRegistry } from "#main";
import { taken } from "#openapi/samples";
import { hostileJson, type Load, type Served, type Sizes } from "./load.ts";

type Json = Readonly<Record<string, unknown>>;

interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const BATCH_MAX = 50;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The largest value that the schema allows, made from a value that the schema accepts. A list whose schema has no limit is made as long as the
 * request body may be.
 */
function largest(schema: Schema, value: unknown, bytes: number): unknown {
  const choice = schema.anyOf?.find(({ type }) => type === (Array.isArray(value) ? "array" : typeof value));
  if (choice !== undefined) return largest(choice, value, bytes);
  if (typeof value === "string" && schema.maxLength !== undefined && schema.enum === undefined && schema.pattern === undefined)
    return schema.format === undefined || value.startsWith("http") ? value.padEnd(Math.min(schema.maxLength, bytes), "x") : value;
  if (Array.isArray(value) && value.length > 0) {
    const item = largest(schema.items ?? {}, value[0], 100);
    const fitting = Math.floor(bytes / (JSON.stringify(item).length + 8));
    const count = Math.min(schema.maxItems ?? fitting, fitting);
    // Each app event gets an id of its own, so that the server does not treat the events as repetitions.
    return Array.from({ length: count }, (_, at) => (isObject(item) && "event_id" in item ? { ...item, event_id: `e${at}` } : item));
  }
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, largest(schema.properties?.[name] ?? {}, inner, bytes)]));
  return value;
}

const tokenTypes = ["page", "user", "app", "social_user", "microblog_user", "system_user"];
const kindsOf: Readonly<Record<string, string>> = { createCatalog: "user", sendSelfMessage: "page", inspectToken: "microblog_user" };
const addresses: Readonly<Record<SurfaceName, keyof Served>> = {
  base: "base_url",
  app: "app_base_url",
  microblog: "microblog_base_url",
  ads: "ads_base_url",
  social_login: "social_login_host",
} as never;

interface Target {
  readonly surface: SurfaceName;
  readonly method: string;
  /** The path of the operation with its version, and with the tokens in the query. */
  readonly path: string;
  readonly token: string;
}

function targetOf({ access, served, nodeType }: Endpoint): Target {
  const kinds = access.policy.kinds as readonly string[];
  const token = `full-${kindsOf[access.operation] ?? tokenTypes.find((one) => kinds.includes(one))}`;
  const surface = (access.surfaces[0] ?? access.clientsSurfaces?.[0]) as SurfaceName;
  const isVersioned = access.versions !== "unversioned" && surface !== "microblog" && surface !== "app";
  const edge = served?.contract.edge;
  const node = nodeType === undefined ? "" : `/${nodeOfType[nodeType]}`;
  const query =
    access.scheme === "pageMessaging" ? `access_token=${token}&oauth_token=${token}` : access.scheme === "query" ? `access_token=${token}` : "";
  const path = `${isVersioned ? "/v25.0" : ""}${node}${edge == null ? "" : `/${edge}`}?${query}`;
  return { surface, method: served?.contract.method ?? "GET", path, token };
}

async function send(
  server: Served,
  target: Target,
  query: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<string> {
  const base = String(server[addresses[target.surface]] ?? server.base_url);
  const response = await fetch(`${base}${target.path}${query === "" ? "" : `&${query}`}`, {
    method: target.method,
    headers: { authorization: `Bearer ${target.token}`, "x-forwarded-for": "203.0.113.9", ...headers },
    ...(body === undefined ? {} : { body: body as never }),
  });
  await response.arrayBuffer();
  return String(response.status);
}

const asJson = { "content-type": "application/json" };
const asForm = { "content-type": "application/x-www-form-urlencoded" };
const asParts = { "content-type": "multipart/form-data; boundary=b" };

const repeated = (part: string, bytes: number): string => part.repeat(Math.floor(bytes / part.length));

function bodiesOf(name: string, bodyBytes: number): [shape: string, body: string | Uint8Array, headers: Record<string, string>][] {
  const json = hostileJson(bodyBytes - 100, name);
  const part = (at: number) => `--b\r\nContent-Disposition: form-data; name="p${at}"\r\n\r\n1\r\n`;
  const parts = Array.from({ length: Math.floor(bodyBytes / 70) }, (_, at) => part(at)).join("");
  const pairs = Array.from({ length: Math.floor(bodyBytes / 9.1) }, (_, at) => `f${at}=1`).join("&");
  return [
    ...Object.entries(json).map(([shape, text]): [string, string, Record<string, string>] => [`JSON: ${shape}`, text, asJson]),
    ["JSON: a list of numbers, packed", gzipSync(json["a list of numbers"] as string), { ...asJson, "content-encoding": "gzip" }],
    ["form: most fields", pairs, asForm],
    ["form: most brackets", repeated(`${name}[a][b][c]=1&`, bodyBytes - 20), asForm],
    ["form: a list in JSON", `${name}=[${repeated("1,", bodyBytes - 500)}1]`, asForm],
    ["form: percent signs", `${name}=${repeated("%C3%A9", bodyBytes - 500)}`, asForm],
    ["parts: most of them", `${parts}--b--\r\n`, asParts],
    [
      "parts: most lines that look like an end",
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${repeated("\r\n--", bodyBytes - 500)}\r\n--b--\r\n`,
      asParts,
    ],
    [
      "parts: a list in JSON",
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n[${repeated("1,", bodyBytes - 500)}1]\r\n--b--\r\n`,
      asParts,
    ],
    [
      "a batch of empty requests",
      JSON.stringify({ batch: Array.from({ length: Math.floor(bodyBytes / 100) }, () => ({ method: "GET", relative_url: "me" })) }),
      asJson,
    ],
  ];
}

function queriesOf(names: readonly string[], edges: readonly string[], queryBytes: number): [shape: string, query: string][] {
  const [name = "user"] = names;
  const nested =
    edges.length === 0 ? "id" : edges.map((edge) => `${edge}.limit(100){id,${edges.map((inner) => `${inner}.limit(100){id}`).join(",")}}`).join(",");
  return [
    [
      "query: most fields",
      Array.from({ length: Math.floor(queryBytes / 8) }, (_, at) => `f${at}=1`)
        .join("&")
        .slice(0, queryBytes),
    ],
    ["query: most brackets", repeated(`${name}[a][b]=1&`, queryBytes)],
    ["query: the longest list", `${name}=${encodeURIComponent("[")}${repeated("1,", queryBytes - 50)}1${encodeURIComponent("]")}`],
    ["query: one text", `${name}=${repeated("x", queryBytes)}`],
    [
      "fields: most of them",
      `fields=${Array.from({ length: Math.floor(queryBytes / 7) }, (_, at) => `f${at}`)
        .join(",")
        .slice(0, queryBytes)}`,
    ],
    ["fields: one of them, most often", `fields=${repeated("id,", queryBytes)}id`],
    ["fields: deepest", `fields=${repeated("id{", queryBytes)}`],
    ["fields: each edge, nested", `fields=${encodeURIComponent(nested)}`],
    ["metadata and debug", "metadata=1&debug=all&limit=100&summary=true"],
    ["the largest page", "limit=100&summary=true"],
  ];
}

/** Returns all loads that test one operation. */
function loadsOfOperation(endpoint: Endpoint, samples: readonly Json[], edges: readonly string[], { bodyBytes, queryBytes }: Sizes): Load[] {
  const target = targetOf(endpoint);
  const work = endpoint.access.operation;
  const names = endpoint.paramNames;
  const { params } = (endpoint.served?.contract ?? {}) as { params?: Schema };
  const loads: Load[] = [];
  const add = (shape: string, query: string, body?: string | Uint8Array, headers?: Record<string, string>): void => {
    loads.push({ work, shape, send: (server) => send(server, target, query, body, headers) });
  };
  const isBody = target.method === "POST";
  for (const [at, sample] of samples.entries()) {
    const full = largest(params ?? {}, sample, isBody ? (bodyBytes * 9) / 10 : (queryBytes * 9) / 10) as Json;
    const values = Object.entries(full).map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)] as const);
    if (isBody) add(`honest ${at}`, "", JSON.stringify(full), asJson);
    else add(`honest ${at}`, new URLSearchParams(values as never).toString().slice(0, queryBytes));
    if (isBody) loads.push(batchOf(work, target, bodyBytes, JSON.stringify(largest(params ?? {}, sample, Math.floor(bodyBytes / 58)))));
  }
  if (!isBody) loads.push(batchOf(work, target, bodyBytes));
  if (isBody) for (const [shape, body, headers] of bodiesOf(names[0] ?? "name", bodyBytes)) add(shape, "", body, headers);
  for (const [shape, query] of queriesOf(names, edges, queryBytes))
    if (isBody ? shape.startsWith("fields") : target.method === "GET" || shape.startsWith("query")) add(shape, query);
  return loads;
}

function batchOf(work: string, target: Target, bodyBytes: number, body?: string): Load {
  const relative_url = target.path.slice(1);
  const parts = Array.from({ length: BATCH_MAX }, () => ({
    method: target.method,
    relative_url,
    ...(body === undefined ? {} : { body, headers: [{ name: "Content-Type", value: "application/json" }] }),
  }));
  const text = JSON.stringify({ batch: parts });
  const batch: Target = { surface: "base", method: "POST", path: "/v25.0/?", token: target.token };
  return { work, shape: `a batch of ${BATCH_MAX}`, send: (server) => send(server, batch, "", text.slice(0, bodyBytes), asJson) };
}

/** Requests that belong to no operation of the graph. */
function others({ queryBytes }: Sizes): Load[] {
  const at = (method: string, path: string): Target => ({ surface: "base", method, path: `/v25.0${path}`, token: "full-page" });
  const ids = Array.from({ length: Math.floor(queryBytes / 6) }, (_, n) => String(50_000 + n))
    .join(",")
    .slice(0, queryBytes)
    .replace(/,[^,]*$/, "");
  const results = `{result=first:$.data.*.id}`;
  const chained = Array.from({ length: BATCH_MAX - 1 }, () => ({ method: "GET", relative_url: `?ids=${results}&fields=id,name` }));
  const first = { method: "GET", name: "first", omit_response_on_success: false, relative_url: "2001/custom_labels?limit=50" };
  const get = (shape: string, query: string): Load => ({ work: "several nodes", shape, send: (server) => send(server, at("GET", "/?"), query) });
  const batch = (shape: string, parts: unknown): Load => ({
    work: "batch",
    shape,
    send: (server) => send(server, at("POST", "/?"), "", JSON.stringify({ batch: parts }), asJson),
  });
  const withHeaders = (shape: string, headers: Record<string, string>): Load => ({
    work: "a head",
    shape,
    send: (server) => send(server, at("GET", "/2001?fields=id"), "", undefined, headers),
  });
  return [
    withHeaders("the most headers", Object.fromEntries(Array.from({ length: Math.floor(queryBytes / 12) }, (_, n) => [`x-h${n}`, "1"]))),
    withHeaders("one long header", { "x-long": repeated("a, ", queryBytes) }),
    withHeaders("the most addresses of proxies", { "x-forwarded-for": repeated("203.0.113.9, ", queryBytes).slice(0, -2) }),
    withHeaders("the most known responses", { "if-none-match": repeated('"a", ', queryBytes).slice(0, -2) }),
    get("the most ids", `ids=${ids}`),
    get("one id, most often", `ids=${repeated("2001,", queryBytes)}2001`),
    get("50 ids", `ids=${Array.from({ length: BATCH_MAX }, (_, n) => 500_000 + n).join(",")}&fields=id,name,users.limit(100){id}`),
    batch("50 that name the first one's ids", [first, ...chained]),
    batch(
      "batches inside a batch",
      Array.from({ length: BATCH_MAX }, () => ({
        method: "POST",
        relative_url: "",
        body: `batch=${encodeURIComponent(JSON.stringify([{ method: "GET", relative_url: "me" }]))}`,
      })),
    ),
    batch("paths of most steps", [
      first,
      ...Array.from({ length: BATCH_MAX - 1 }, () => ({ method: "GET", relative_url: `?ids={result=first:$${repeated(".*", queryBytes)}}` })),
    ]),
  ];
}

export function graphLoads(callback: string, sizes: Sizes): Load[] {
  const registry = buildRegistry();
  const samples = taken(callback);
  const loads = registry.endpoints.flatMap((endpoint) => {
    const { operation } = endpoint.access;
    const edges = registry
      .operationsOn(endpoint.nodeType ?? "")
      .flatMap(({ served }) => (served?.contract.method === "GET" && served.contract.edge !== null ? [served.contract.edge] : []));
    return loadsOfOperation(endpoint, samples[operation] ?? [{}], edges, sizes);
  });
  return [...loads, ...others(sizes)];
}
