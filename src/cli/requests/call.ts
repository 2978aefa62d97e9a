/** `plaza call`: sends a request to the graph with the token of a person or app of the world, and says why it was refused if it was. */
import { ConfigProblem } from "#config/config";
import { type ControlRequests, type Given, withServer } from "../control-client.ts";
import { directTo } from "../proxies.ts";
import { FAILED, note, printable, readTextFile, say } from "../terminal/output.ts";
import { errorIn } from "./error-in.ts";
import { explained } from "./explain.ts";

interface Operation {
  readonly method: string;
  readonly surface: string;
  readonly path: string;
  readonly token_places: readonly string[];
  readonly all_places: boolean;
}

interface Token {
  readonly id: string;
  readonly type: string;
  readonly app: string;
  readonly user?: string;
  readonly page?: string;
  readonly social_account?: string;
  readonly microblog_user?: string;
  readonly revoked_at: number;
}

/** For each type of token, the key that has its principal. */
const principalOf = {
  app: "app",
  user: "user",
  system_user: "user",
  page: "page",
  social_user: "social_account",
  microblog_user: "microblog_user",
} as const;
/** The nodes that a token can speak for, with the keys that have their names. */
const PRINCIPALS = {
  users: ["name"],
  pages: ["name"],
  social_accounts: ["username"],
  microblog_users: ["username", "name"],
  apps: ["name"],
} as const;

export function call(method: string, path: string, given: Given): Promise<number> {
  return withServer(given, async (control) => {
    const verb = method.toUpperCase();
    const { url, init } = await requestOf(control, verb, path, given);
    const response = await fetch(url, { ...init, method: verb, ...directTo(url) });
    const text = await response.text();
    if (given.include === true) {
      say(`${response.status}`);
      for (const [name, value] of response.headers) say(printable(`${name}: ${value}`));
    }
    say(shown(text));
    if (response.ok) return 0;
    const trace = errorIn(text)?.pftrace_id;
    const found = trace === undefined ? undefined : await control.request("GET", `requests/${encodeURIComponent(trace)}`).catch(() => undefined);
    if (found !== undefined) for (const line of await explained(control, found)) note(printable(line));
    return FAILED;
  });
}

/**
 * A response as JSON on several lines. The text leaves out the messages of `debug=all`, which the command sends so that the server records how it
 * handled the request.
 */
function shown(text: string): string {
  try {
    const body = JSON.parse(text) as unknown;
    if (typeof body === "object" && body !== null && !Array.isArray(body)) delete (body as Record<string, unknown>).__debug__;
    return JSON.stringify(body, undefined, 2);
  } catch {
    return printable(text);
  }
}

async function requestOf(control: ControlRequests, method: string, path: string, given: Given) {
  const [address = "", search = ""] = path.replace(/^\/?/, "/").split("?");
  const server: Record<string, string> = await control.request("GET", "/v1/server");
  const operation = await operationAt(control, method, address);
  const token = given.as === undefined ? undefined : await tokenOf(control, String(given.as));
  const query = new URLSearchParams(search);
  const fields = (given.field ?? []) as readonly string[];
  const isForm = method === "POST" && given.body === undefined;
  const form = new URLSearchParams();
  for (const pair of fields) {
    const at = pair.indexOf("=");
    if (at < 1) throw new ConfigProblem("--field", `${pair} is not NAME=VALUE`);
    (isForm ? form : query).append(pair.slice(0, at), pair.slice(at + 1));
  }
  const headers: Record<string, string> = {};
  if (token !== undefined)
    for (const place of placesOf(operation)) {
      if (place === "bearer") headers.authorization = `Bearer ${token}`;
      else if (place === "body") form.set("access_token", token);
      else query.set(place, token);
    }
  if (!query.has("debug")) query.set("debug", "all");
  const body = given.body === undefined ? undefined : await bodyOf(String(given.body));
  if (body !== undefined) headers["content-type"] = "application/json";
  const base = server[operation === undefined || operation.surface === "base" ? "base_url" : `${operation.surface}_base_url`] ?? server.base_url;
  return {
    url: `${ofWorld(String(base), String(server.base_url), given)}${address}?${query}`,
    init: { headers, ...(body !== undefined ? { body } : form.size > 0 ? { body: form } : {}) } satisfies RequestInit,
  };
}

/** The operation at an address; undefined if Plaza does not know the address: then the response says so. */
async function operationAt(control: ControlRequests, method: string, address: string): Promise<Operation | undefined> {
  const [id = ""] = address.replace(/^(\/v[^/]+)?\//, "").split("/");
  for (const filter of [`?node=${encodeURIComponent(id)}`, ""]) {
    const { data } = (await control.request("GET", `operations${filter}`)) as { data: readonly Operation[] };
    const found = data.find((one) => one.method === method && isAt(one.path, address));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The address of a surface in the world: `http://host/w/orders/app`. The addresses of the first world have no such prefix. */
function ofWorld(base: string, root: string, { world_name = "default" }: Given): string {
  if (world_name === "default") return base;
  const world = `/w/${encodeURIComponent(String(world_name))}`;
  return base.startsWith(root) ? root + world + base.slice(root.length) : base + world;
}

/** Whether a path matches a template such as `/{version}/{id}/personas`. The version may be left out. */
function isAt(template: string, address: string): boolean {
  const [wanted, given] = [segmentsOf(template), segmentsOf(address)];
  if (wanted[0] === "{version}" && given[0]?.startsWith("v") !== true) wanted.shift();
  return wanted.length === given.length && wanted.every((one, i) => one.startsWith("{") || one === given[i]);
}

const segmentsOf = (path: string): string[] => path.split("/").filter((one) => one !== "");

const placesOf = (operation: Operation | undefined): readonly string[] => {
  if (operation === undefined) return ["bearer"];
  if (operation.all_places) return operation.token_places;
  return [operation.token_places.includes("bearer") ? "bearer" : (operation.token_places[0] ?? "bearer")];
};

async function bodyOf(value: string): Promise<string> {
  const text = value.startsWith("@") ? await readTextFile("--body", value.slice(1)) : value;
  try {
    JSON.parse(text);
  } catch {
    throw new ConfigProblem("--body", "is not JSON; @FILE reads a file, and --field sends a form");
  }
  return text;
}

/** The value of a token: a copy of a token that the given principal has, or the given text itself. */
async function tokenOf(control: ControlRequests, as: string): Promise<string> {
  const ids = await idsNamed(control, as);
  if (ids.length === 0) return as;
  if (ids.length > 1) throw new ConfigProblem("--as", `${ids.length} nodes are called ${as}: ${ids.join(", ")}; name one by its id`);
  const tokens = (await control.request("GET", "tokens?limit=1000")).data as readonly Token[];
  const usable = tokens.filter((one) => one[principalOf[one.type as keyof typeof principalOf]] === ids[0] && one.revoked_at === 0);
  for (const { id } of usable) {
    const copy = await control.request("POST", `tokens/${id}/copy`).catch(() => undefined);
    if (copy !== undefined) return copy.token;
  }
  throw new ConfigProblem("--as", `${as} has no valid token; plaza token mint makes one`);
}

/** The ids of the nodes that have this id or name. */
async function idsNamed(control: ControlRequests, text: string): Promise<string[]> {
  const found = new Set<string>();
  for (const [kind, names] of Object.entries(PRINCIPALS)) {
    const { data } = (await control.request("GET", `nodes/${kind}?limit=1000`)) as { data: readonly Record<string, unknown>[] };
    for (const node of data) if (node.id === text || names.some((name) => node[name] === text)) found.add(String(node.id));
  }
  return [...found];
}
