/** Requests to the control API, as the command line and the MCP tools send them. */

export interface ControlRequests {
  /** The address of the server's control API. */
  readonly url: string;
  readonly worldName: string;
  /** The path of the world, e.g. `/v1/worlds/default`. */
  readonly world: string;
  /**
   * Sends a request. `path` is relative to the world, e.g. `deliveries`. The promise rejects with the API's message if the API refuses the request.
   */
  // biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
  request(method: string, path: string, body?: unknown): Promise<any>;
  /** Sends a request. `path` begins with a slash. Returns every response of the API, including error responses. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** The receiver of requests to the control API, which is another process or this process. */
export interface Endpoint {
  readonly url: string;
  readonly key: string;
  /** Sends a request. The promise rejects if the request gets no response. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Makes a `fetch` ignore the proxy of the environment. The cast is needed because Bun's type declarations do not allow the value `false`. */
export const NO_PROXY = false as unknown as string;

export function requestsTo({ url, key, fetch: send }: Endpoint, worldName: string): ControlRequests {
  const world = `/v1/worlds/${encodeURIComponent(worldName)}`;
  const sendWithKey: ControlRequests["send"] = (path, init = {}) =>
    send(url + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
  return {
    ...{ url, worldName, world, send: sendWithKey },
    async request(method, path, body) {
      const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      return resultOf(await sendWithKey(path.startsWith("/") ? path : `${world}/${path}`, { method, ...json }));
    },
  };
}

/** Reads the entries of all pages of a list. */
export async function* entriesOf<T>({ request }: Pick<ControlRequests, "request">, path: string): AsyncGenerator<T> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const { data = [], paging }: { data?: T[]; paging?: { next?: string } } = await request("GET", next);
    yield* data;
    const link: URL | undefined = paging?.next === undefined ? undefined : new URL(paging.next);
    next = link === undefined ? undefined : link.pathname + link.search;
  }
}

const UNMET = 422;

/** The entries that an expectation compared. If the expectation was not met, `problem` gives the reason, and `nearest` is the most similar entry. */
interface Seen {
  readonly problem?: string;
  readonly data: readonly unknown[];
  readonly nearest?: object;
}

/** Sends an expectation to the route at `path`, which begins with a slash. The promise rejects with the API's message if the request is wrong. */
export async function expectSeen({ send }: ControlRequests, path: string, body: unknown): Promise<Seen> {
  const response = await send(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) });
  if (response.status !== UNMET) return resultOf(response);
  const { error, ...seen } = (await response.json()) as { error: { message: string } } & Seen;
  return { ...seen, problem: error.message };
}

/** Reads the JSON of a response. Throws `ControlRefusal` with the message of the API if the API refused the request. */
// biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
export async function resultOf(response: Response): Promise<any> {
  const text = await response.text();
  let body: { error?: { message: string } } | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ControlRefusal(`${new URL(response.url).origin} is not a control API: it returned ${response.status} without JSON`);
  }
  if (!response.ok) throw new ControlRefusal(body?.error?.message ?? `the control API returned ${response.status}`);
  return body;
}

/** The error of a request that the control API refused. The message of such an error gives the reason why the API refused the request. */
export class ControlRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ControlRefusal";
  }
}

/** The error for a wrong parameter of a command or of an MCP tool. */
export class WrongParameter extends Error {
  constructor(
    /** The name of the wrong parameter, e.g. `as`; on the command line, this parameter is the option `--as`. */
    readonly parameter: string,
    readonly problem: string,
  ) {
    super(`${parameter}: ${problem}`);
    this.name = "WrongParameter";
  }
}
