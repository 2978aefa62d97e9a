/** A request of the interface as a value, and what HTTP it becomes. */
import { mounts, type Operations, operations, type Surface, versions } from "./generated/operations.ts";

export type OperationName = keyof Operations;

export interface RequestOptions {
  /** In place of the client's. */
  readonly accessToken?: string;
  /** E.g. `v25.0`, in place of the client's. */
  readonly version?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the request, its retries and its pages. */
  readonly signal?: AbortSignal;
}

type Params<N extends OperationName> = Operations[N]["params"];
type OptionsOf<N extends OperationName> = Operations[N]["headers"] extends undefined
  ? [options?: RequestOptions]
  : [options: RequestOptions & { readonly headers: Operations[N]["headers"] }];
type IdOf<N extends OperationName> = Operations[N]["id"] extends string ? [id: string] : [];
type ParamsOf<N extends OperationName> = Operations[N]["headers"] extends undefined
  ? Record<never, never> extends Params<N>
    ? [params?: Params<N>, ...options: OptionsOf<N>]
    : [params: Params<N>, ...options: OptionsOf<N>]
  : [params: Params<N>, ...options: OptionsOf<N>];

/** The id, where the operation is one of a node, then the parameters, then options. */
export type Arguments<N extends OperationName> = [...IdOf<N>, ...ParamsOf<N>];

export interface GraphRequest<N extends OperationName = OperationName> {
  readonly operation: N;
  readonly id: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: RequestOptions;
  /** In a batch: later requests can refer to this one, e.g. by the id `{result=new:$.id}`. */
  readonly name?: string;
  /** In a batch: names of requests that must have succeeded. */
  readonly dependsOn?: readonly string[];
}

/** A request as a value, for `send` and `batch`: `request("createLabel", "2001", { page_label_name: "vip" })`. */
export function request<N extends OperationName>(operation: N, ...args: Arguments<N>): GraphRequest<N> {
  const [id, params, options] = shapeOf(operation).path.startsWith("/{id}") ? args : [undefined, ...args];
  return { operation, id: id as string | undefined, params: (params ?? {}) as GraphRequest["params"], options: (options ?? {}) as RequestOptions };
}

interface Shape {
  readonly method: string;
  readonly path: string;
  readonly surface: Surface;
  readonly rule: string;
  readonly scheme: string;
  readonly kind: "one" | "pages" | "cursors";
  readonly headers: Readonly<Record<string, string>>;
}

export function shapeOf(operation: OperationName): Shape {
  const [method = "", path = "", surface, rule = "", scheme = "", kind, ...headers] = operations[operation].split(" ");
  return {
    ...{ method, path, surface: surface as Surface, rule, scheme, kind: kind as Shape["kind"] },
    headers: Object.fromEntries(headers.map((header) => header.split(":"))),
  };
}

export interface Settings {
  readonly baseUrl: string;
  readonly accessToken?: string;
  /** Addresses of surfaces that are not below `baseUrl` at their usual places. */
  readonly addresses?: Readonly<Partial<Record<Surface, string>>>;
  /** The versions to ask for; `versions` of the contract unless given. */
  readonly versions?: Readonly<Partial<Record<keyof typeof versions, string>>>;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

export const addressOf = (surface: Surface, { addresses, baseUrl }: Settings): string =>
  (addresses?.[surface] ?? `${baseUrl.replace(/\/$/, "")}${mounts[surface]}`).replace(/\/$/, "");

/** Version, id and edge. */
export function pathOf({ operation, id = "", options }: GraphRequest, settings: Settings): string {
  const { path, rule, surface } = shapeOf(operation);
  const list = rule === "marketingOrCurrent" ? "marketing" : rule;
  const own = options.version ?? settings.versions?.[list as keyof typeof versions] ?? versions[list as keyof typeof versions];
  // The address of the microblog host, and a header of required actions, have the version.
  const version = own === undefined || rule === "unversioned" || surface === "microblog" ? "" : `/${own}`;
  // A reference to an earlier request of a batch stays as it is written.
  return `${version}${path.replace("{id}", () => (id.includes("{result=") ? id : encodeURIComponent(id)))}`;
}

/** Query and body: a POST has its parameters in the body, everything else in the query. */
export function partsOf({ operation, params }: GraphRequest): { query: URLSearchParams; body: Readonly<Record<string, unknown>> | undefined } {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  if (shapeOf(operation).method === "POST") return { query: new URLSearchParams(), body: Object.fromEntries(given) };
  return { query: new URLSearchParams(given.map(([name, value]): [string, string] => [name, textOf(value)])), body: undefined };
}

const textOf = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** The places where the scheme wants the token. */
export function credentialsOf(scheme: string, token: string | undefined): { query: Record<string, string>; headers: Record<string, string> } {
  if (token === undefined) return { query: {}, headers: {} };
  const headers = { authorization: `Bearer ${token}` };
  if (scheme === "pageMessaging") return { query: { access_token: token, oauth_token: token }, headers };
  return scheme === "query" ? { query: { access_token: token }, headers: {} } : { query: {}, headers };
}

export function httpRequestOf(one: GraphRequest, settings: Settings): HttpRequest {
  const { method, surface, scheme, headers } = shapeOf(one.operation);
  const { query, body } = partsOf(one);
  const credentials = credentialsOf(scheme, one.options.accessToken ?? settings.accessToken);
  for (const [name, value] of Object.entries(credentials.query)) query.set(name, value);
  const asked = query.toString();
  const isJson = body !== undefined && !Object.values(body).some((value) => value instanceof Blob);
  return {
    method,
    url: `${addressOf(surface, settings)}${pathOf(one, settings)}${asked === "" ? "" : `?${asked}`}`,
    headers: { ...headers, ...credentials.headers, ...(isJson ? { "content-type": "application/json" } : {}), ...one.options.headers },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : formOf(body) }),
  };
}

function formOf(body: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value instanceof Blob ? value : textOf(value));
  return form;
}
