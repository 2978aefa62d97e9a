/** Makes a request to the graph with the token of a person, page, account or app of the world. */
import { type ControlRequests, WrongParameter } from "./requests.ts";

export interface GraphCall {
  readonly method: string;
  /** The path with or without a version, e.g. `/v26.0/2001/custom_labels`. The path of a request may have a query. */
  readonly path: string;
  /** The name or id of a node whose token is sent, or the value of a token. */
  readonly as?: string | undefined;
  /** The parameters of the request. A POST without a body sends its parameters as a form; any other request sends its parameters in the query. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The request body, as JSON. */
  readonly body?: string | undefined;
}

export interface GraphRequest {
  readonly url: string;
  /** The address at which the server serves the graph. `url` begins with this address, unless the surface of `url` has its own host name. */
  readonly root: string;
  readonly init: RequestInit;
}

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

/** For each type of token, the key of the token that contains the id of the token's principal. */
const principalOf = {
  app: "app",
  user: "user",
  system_user: "user",
  page: "page",
  social_user: "social_account",
  microblog_user: "microblog_user",
} as const;
/** The keys of a world file whose nodes can have tokens, each with the keys that contain a node's name. */
export const PRINCIPALS = {
  users: ["name"],
  pages: ["name"],
  social_accounts: ["username"],
  microblog_users: ["username", "name"],
  apps: ["name"],
} as const;

/** Sends the request and asks for debug messages, so that the server records how it handles the request. Throws `WrongParameter`. */
export async function graphRequestOf(control: ControlRequests, { method, path, as, fields, body }: GraphCall): Promise<GraphRequest> {
  const [address = "", search = ""] = path.replace(/^\/?/, "/").split("?");
  const server: Record<string, string> = await control.request("GET", "/v1/server");
  const operation = await operationAt(control, method, address);
  const token = as === undefined ? undefined : await tokenOf(control, as);
  const query = new URLSearchParams(search);
  const form = new URLSearchParams();
  const isForm = method === "POST" && body === undefined;
  for (const [name, value] of fields) (isForm ? form : query).append(name, value);
  const headers: Record<string, string> = {};
  if (token !== undefined)
    for (const place of placesOf(operation)) {
      if (place === "bearer") headers.authorization = `Bearer ${token}`;
      else if (place === "body") form.set("access_token", token);
      else query.set(place, token);
    }
  if (!query.has("debug")) query.set("debug", "all");
  if (body !== undefined) headers["content-type"] = "application/json";
  const root = String(server.base_url);
  const base = server[operation === undefined || operation.surface === "base" ? "base_url" : `${operation.surface}_base_url`] ?? root;
  return {
    ...{ url: `${ofWorld(base, root, control.worldName)}${address}?${query}`, root },
    init: { method, headers, ...(body !== undefined ? { body } : form.size > 0 ? { body: form } : {}) },
  };
}

/** Removes the debug messages from a response. Returns undefined if the response is not a JSON object. */
export function withoutDebug(text: string): unknown {
  try {
    const body = JSON.parse(text) as unknown;
    if (typeof body === "object" && body !== null && !Array.isArray(body)) delete (body as Record<string, unknown>).__debug__;
    return body;
  } catch {
    return undefined;
  }
}

/** Finds the operation at an address. Returns undefined for an unknown address; the response to the request will say that the address is unknown. */
async function operationAt(control: ControlRequests, method: string, address: string): Promise<Operation | undefined> {
  const [id = ""] = address.replace(/^(\/v[^/]+)?\//, "").split("/");
  for (const filter of [`?node=${encodeURIComponent(id)}`, ""]) {
    const { data } = (await control.request("GET", `operations${filter}`)) as { data: readonly Operation[] };
    const found = data.find((one) => one.method === method && isAt(one.path, address));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the address of a surface in the world: `http://host/w/orders/app`. An address of the first world does not contain `/w/` and the world's
 * name.
 */
function ofWorld(base: string, root: string, worldName: string): string {
  if (worldName === "default") return base;
  const world = `/w/${encodeURIComponent(worldName)}`;
  return base.startsWith(root) ? root + world + base.slice(root.length) : base + world;
}

/** Whether a path matches a template such as `/{version}/{id}/personas`. A path without a version matches too. */
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

/** Returns the value of a token: a copy of a token of the given principal, or the given text itself if the text does not name a principal. */
async function tokenOf(control: ControlRequests, as: string): Promise<string> {
  const ids = await idsNamed(control, as);
  if (ids.length === 0) return as;
  if (ids.length > 1) throw new WrongParameter("as", `${ids.length} nodes have the name ${as}: ${ids.join(", ")}; give the id of one of them`);
  const tokens = (await control.request("GET", "tokens?limit=1000")).data as readonly Token[];
  const usable = tokens.filter((one) => one[principalOf[one.type as keyof typeof principalOf]] === ids[0] && one.revoked_at === 0);
  for (const { id } of usable) {
    const copy = await control.request("POST", `tokens/${id}/copy`).catch(() => undefined);
    if (copy !== undefined) return copy.token;
  }
  throw new WrongParameter("as", `${as} has no valid token; plaza token mint creates one`);
}

/** Finds the ids of the nodes that have this id or name. */
export async function idsNamed(
  control: ControlRequests,
  text: string,
  kinds = Object.keys(PRINCIPALS) as readonly (keyof typeof PRINCIPALS)[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const kind of kinds) {
    const names: readonly string[] = PRINCIPALS[kind];
    const { data } = (await control.request("GET", `nodes/${kind}?limit=1000`)) as { data: readonly Record<string, unknown>[] };
    for (const node of data) if (node.id === text || names.some((name) => node[name] === text)) found.add(String(node.id));
  }
  return [...found];
}
