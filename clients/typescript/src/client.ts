import { type Attempts, responseOf } from "./attempts.ts";
import { GraphError } from "./errors.ts";
import { type Operations, operations, versions, withoutVersion } from "./generated/operations.ts";
import { type List, type ListPage, listOf } from "./pages.ts";
import {
  type Arguments,
  addressOf,
  credentialsOf,
  type GraphRequest,
  httpRequestOf,
  type OperationName,
  partsOf,
  pathOf,
  type RequestOptions,
  request,
  type Settings,
  shapeOf,
  surfaceOf,
} from "./request.ts";

/** Options of a client: the address of the server, the token, the versions to use, and the number of attempts. */
export interface ClientOptions extends Settings, Attempts {}

type Returns<N extends OperationName> = Operations[N]["returns"];

/** The result of an operation: a list if the operation returns pages, otherwise a promise. */
export type Result<N extends OperationName> = Operations[N]["kind"] extends "one"
  ? Promise<Returns<N>>
  : Returns<N> extends ListPage<unknown>
    ? List<Returns<N>>
    : never;

/**
 * The result of one request of a batch. The outcome is `null` if only other requests of the batch needed the result, or if the request depends on
 * another request, which failed.
 */
export type Outcome<N extends OperationName> = { readonly value: Returns<N> } | { readonly error: GraphError } | null;

type Outcomes<Requests extends readonly GraphRequest[]> = {
  -readonly [At in keyof Requests]: Requests[At] extends GraphRequest<infer N> ? Outcome<N> : never;
};

/** A method for each operation of the contract, with the name of the operation. */
export type Methods = { readonly [N in keyof Operations]: (...args: Arguments<N>) => Result<N> };

export interface GraphClient extends Methods {
  /** Sends a request that was made with `request`. */
  send<N extends OperationName>(request: GraphRequest<N>): Result<N>;
  /**
   * Sends up to 50 requests of one surface of the graph in one HTTP request. The server runs the requests in order, with one token. If a request
   * fails, the other requests of the batch still take effect. A list in a batch returns its first page.
   */
  batch<const Requests extends readonly GraphRequest[]>(requests: Requests, options?: RequestOptions): Promise<Outcomes<Requests>>;
}

/**
 * A client of a graph server.
 *
 * @example
 * const graph = createClient({ baseUrl: "http://127.0.0.1:4000", accessToken: "demo-page-token" });
 * for await (const label of graph.listLabels("2001")) console.log(label.name);
 */
export function createClient(settings: ClientOptions): GraphClient {
  const responseTo = (one: GraphRequest): Promise<unknown> => responseOf(one.operation, httpRequestOf(one, settings), settings, one.options.signal);

  const send = (one: GraphRequest): unknown => {
    const { kind } = shapeOf(one.operation);
    if (kind === "one") return responseTo(one);
    const read = (further: Readonly<Record<string, string>>) =>
      responseTo({ ...one, params: { ...one.params, ...further } }) as Promise<ListPage<unknown>>;
    return listOf(read, kind === "pages");
  };

  const methods = Object.keys(operations).map((name) => [name, (...args: Arguments<OperationName>) => send(request(name as OperationName, ...args))]);
  return {
    ...Object.fromEntries(methods),
    send,
    batch: (requests: readonly GraphRequest[], options?: RequestOptions) => batch(requests, options ?? {}, settings),
  } as GraphClient;
}

interface BatchResponse {
  readonly code: number;
  readonly body: string;
}

async function batch(requests: readonly GraphRequest[], options: RequestOptions, given: ClientOptions): Promise<Outcome<OperationName>[]> {
  const settings = options.surface === undefined ? given : { ...given, surface: options.surface };
  const surfaces = new Set(requests.map((one) => surfaceOf(one, settings)));
  const [surface = "base"] = surfaces;
  if (surfaces.size > 1) throw new TypeError(`a batch sends its requests to one surface; these need ${[...surfaces].join(" and ")}`);
  for (const one of requests) expectBatchable(one);
  // The token is put into each parameter and header that the scheme allows, because the scheme of each request in the batch decides where the server
  // reads the token.
  const credentials = credentialsOf("pageMessaging", options.accessToken ?? settings.accessToken);
  const headers = Object.assign({}, ...requests.flatMap(({ operation, options: own }) => [shapeOf(operation).headers, own.headers]));
  const version = withoutVersion.has(surface) ? "" : `/${options.version ?? settings.versions?.platform ?? versions.platform}`;
  const sent = {
    method: "POST",
    url: `${addressOf(surface, settings)}${version}/?${new URLSearchParams(credentials.query)}`,
    headers: { ...headers, ...credentials.headers, "content-type": "application/json", ...options.headers },
    body: JSON.stringify({ batch: requests.map((one) => partOf(one, settings)), include_headers: false }),
  };
  const responses = (await responseOf("batch", sent, settings, options.signal)) as readonly (BatchResponse | null)[];
  return responses.map((response, at) => outcomeOf(requests[at]?.operation ?? "batch", response));
}

/** Throws if a request has an option that a batch would silently ignore. */
function expectBatchable({ operation, options, params }: GraphRequest): void {
  if (options.accessToken !== undefined)
    throw new TypeError(`all requests of a batch use the token of the batch's options; ${operation} has another token`);
  if (Object.values(params).some((value) => value instanceof Blob)) throw new TypeError(`a batch cannot send files: send ${operation} by itself`);
}

function partOf(one: GraphRequest, settings: ClientOptions) {
  const { query, body } = partsOf(one);
  const asked = query.toString();
  return {
    method: shapeOf(one.operation).method,
    relative_url: `${pathOf(one, settings).slice(1)}${asked === "" ? "" : `?${asked}`}`,
    ...(body === undefined ? {} : { body }),
    ...(one.name === undefined ? {} : { name: one.name, omit_response_on_success: false }),
    ...(one.dependsOn === undefined ? {} : { depends_on: one.dependsOn }),
  };
}

function outcomeOf(operation: string, response: BatchResponse | null): Outcome<OperationName> {
  if (response === null) return null;
  const body: unknown = JSON.parse(response.body);
  return response.code === 200 ? { value: body as Returns<OperationName> } : { error: new GraphError(operation, response.code, body) };
}
