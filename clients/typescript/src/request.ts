/** The requests of the graph interface as values, and the conversion to HTTP requests. */
import { mounts, type Operations, operations, type Surface, versions, withoutVersion } from "./generated/operations.ts";

export type OperationName = keyof Operations;

export interface RequestOptions {
  /** The token for this request, in place of the client's token. */
  readonly accessToken?: string;
  /** The version for this request, e.g. `v25.0`, in place of the client's version. */
  readonly version?: string;
  /**
   * The surface (group of hosts) to send the request to if several surfaces serve the operation: with `social_login`, for example, an account sends
   * a message to itself with its own token.
   */
  readonly surface?: Surface;
  readonly headers?: Readonly<Record<string, string>>;
  /** An aborted signal ends the request and its retries, and the client reads no further pages. */
  readonly signal?: AbortSignal;
}

type Params<N extends OperationName> = Operations[N]["params"];
type OwnOptions<N extends OperationName> = RequestOptions & { readonly surface?: Operations[N]["surface"] };
type OptionsOf<N extends OperationName> = Operations[N]["headers"] extends undefined
  ? [options?: OwnOptions<N>]
  : [options: OwnOptions<N> & { readonly headers: Operations[N]["headers"] }];
type IdOf<N extends OperationName> = Operations[N]["id"] extends string ? [id: string] : [];
type ParamsOf<N extends OperationName> = Operations[N]["headers"] extends undefined
  ? Record<never, never> extends Params<N>
    ? [params?: Params<N>, ...options: OptionsOf<N>]
    : [params: Params<N>, ...options: OptionsOf<N>]
  : [params: Params<N>, ...options: OptionsOf<N>];

/** The arguments of an operation: first the id, if the operation belongs to a node, then the parameters, then the options. */
export type Arguments<N extends OperationName> = [...IdOf<N>, ...ParamsOf<N>];

export interface GraphRequest<N extends OperationName = OperationName> {
  readonly operation: N;
  readonly id: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: RequestOptions;
  /**
   * The name of this request in a batch. Later requests of the batch can use the name to refer to the result of this request, e.g. by the id
   * `{result=new:$.id}`.
   */
  readonly name?: string;
  /** The names of the other requests of the batch that must succeed before the server runs this request. */
  readonly dependsOn?: readonly string[];
}

/** Makes a request for `send` or `batch`: `request("createLabel", "2001", { page_label_name: "vip" })`. */
export function request<N extends OperationName>(operation: N, ...args: Arguments<N>): GraphRequest<N> {
  const [id, params, options] = shapeOf(operation).path.startsWith("/{id}") ? args : [undefined, ...args];
  return { operation, id: id as string | undefined, params: (params ?? {}) as GraphRequest["params"], options: (options ?? {}) as RequestOptions };
}

interface Shape {
  readonly method: string;
  readonly path: string;
  readonly surfaces: readonly Surface[];
  readonly rule: string;
  readonly scheme: string;
  readonly kind: "one" | "pages" | "cursors";
  readonly headers: Readonly<Record<string, string>>;
}

export function shapeOf(operation: OperationName): Shape {
  const [method = "", path = "", surfaces = "", rule = "", scheme = "", kind, ...headers] = operations[operation].split(" ");
  return {
    ...{ method, path, surfaces: surfaces.split(",") as Surface[], rule, scheme, kind: kind as Shape["kind"] },
    headers: Object.fromEntries(headers.map((header) => header.split(":"))),
  };
}

export interface Settings {
  readonly baseUrl: string;
  readonly accessToken?: string;
  /** The addresses of surfaces that do not have their default address below `baseUrl`. */
  readonly addresses?: Readonly<Partial<Record<Surface, string>>>;
  /** The surface that the client uses for operations which several surfaces serve: `social_login` if the program has tokens of social login. */
  readonly surface?: Surface;
  /** The versions that the client requests. Default: `versions` of the contract. */
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

/** The surface to which the client sends a request. Throws TypeError if the request names a surface that does not serve its operation. */
export function surfaceOf({ operation, options }: GraphRequest, settings: Settings): Surface {
  const { surfaces } = shapeOf(operation);
  const { surface } = options;
  if (surface !== undefined && !surfaces.includes(surface))
    throw new TypeError(`${operation} is served on ${surfaces.join(" and ")}, but not on ${surface}`);
  const [usual = "base"] = surfaces;
  return surface ?? surfaces.find((one) => one === settings.surface) ?? usual;
}

/** Returns the path of a request: the version, the id, and the edge. */
export function pathOf(one: GraphRequest, settings: Settings): string {
  const { operation, id = "", options } = one;
  const { path, rule } = shapeOf(operation);
  const list = rule === "marketingOrCurrent" ? "marketing" : rule;
  const own = options.version ?? settings.versions?.[list as keyof typeof versions] ?? versions[list as keyof typeof versions];
  const version = own === undefined || rule === "unversioned" || withoutVersion.has(surfaceOf(one, settings)) ? "" : `/${own}`;
  // If an id refers to an earlier request of a batch, the client does not encode it.
  return `${version}${path.replace("{id}", () => (id.includes("{result=") ? id : encodeURIComponent(id)))}`;
}

/** Returns the query and the body of a request. A POST has its parameters in the body; other methods have them in the query. */
export function partsOf({ operation, params }: GraphRequest): { query: URLSearchParams; body: Readonly<Record<string, unknown>> | undefined } {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  if (shapeOf(operation).method === "POST") return { query: new URLSearchParams(), body: Object.fromEntries(given) };
  return { query: new URLSearchParams(given.map(([name, value]): [string, string] => [name, textOf(value)])), body: undefined };
}

const textOf = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** Returns the token in each parameter or header that the authentication scheme requires. */
export function credentialsOf(scheme: string, token: string | undefined): { query: Record<string, string>; headers: Record<string, string> } {
  if (token === undefined) return { query: {}, headers: {} };
  const headers = { authorization: `Bearer ${token}` };
  if (scheme === "pageMessaging") return { query: { access_token: token, oauth_token: token }, headers };
  return scheme === "query" ? { query: { access_token: token }, headers: {} } : { query: {}, headers };
}

export function httpRequestOf(one: GraphRequest, settings: Settings): HttpRequest {
  const { method, scheme, headers } = shapeOf(one.operation);
  const { query, body } = partsOf(one);
  const credentials = credentialsOf(scheme, one.options.accessToken ?? settings.accessToken);
  for (const [name, value] of Object.entries(credentials.query)) query.set(name, value);
  const asked = query.toString();
  const isJson = body !== undefined && !Object.values(body).some((value) => value instanceof Blob);
  return {
    method,
    url: `${addressOf(surfaceOf(one, settings), settings)}${pathOf(one, settings)}${asked === "" ? "" : `?${asked}`}`,
    headers: { ...headers, ...credentials.headers, ...(isJson ? { "content-type": "application/json" } : {}), ...one.options.headers },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : formOf(body) }),
  };
}

function formOf(body: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value instanceof Blob ? value : textOf(value));
  return form;
}
