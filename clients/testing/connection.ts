/** Sends requests to the control API of one server. */
import { ControlRefusal, UnmetExpectation, type UnmetResponse } from "./failures.ts";

/** Sends a request. Rejects if no response comes. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The runtime's own `fetch`, taken before a test can replace it. */
const { fetch: overNetwork } = globalThis;

export class Connection {
  /**
   * `url` is the address of the control API, without `/v1`. For a server in the same process, `fetch` is the server's own function, which needs no
   * network connection.
   */
  constructor(
    readonly url: string,
    readonly key: string,
    readonly fetch: Fetch = overNetwork,
  ) {}

  /** Sends a request to `path`, which is below `/v1`. A text body is sent unchanged, any other body as JSON. Rejects with a `ControlRefusal`. */
  async send<Response>(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await this.#fetch(method, path, body);
    const text = await response.text();
    const result = readJson(text);
    if (response.ok) return result as Response;
    const { error = { code: "unknown", message: `the control API returned ${response.status}: ${text}` } } = (result ?? {}) as Partial<UnmetResponse>;
    if (response.status === 422 && path.endsWith("/expect")) throw new UnmetExpectation({ ...(result as UnmetResponse), error });
    throw new ControlRefusal(`${method} ${path}: ${error.message}`, response.status, error.code, error.parameter);
  }

  /** Opens a stream of server-sent events. Resolves when the server has begun to send the stream. */
  async open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { authorization: `Bearer ${this.key}`, accept: "text/event-stream" };
    const response = await this.fetch(`${this.url}/v1/${path}`, { headers, signal, ...directTo(this.url) });
    if (!response.ok || response.body === null) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    // A server in the same process does not notice that the signal is aborted, but notices that nobody reads the stream any more.
    return response.body.pipeThrough(new TransformStream(), { signal });
  }

  async #fetch(method: string, path: string, body: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.key}`, "content-type": "application/json" };
    try {
      return await this.fetch(`${this.url}/v1/${path}`, {
        ...{ method, headers, ...directTo(this.url) },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
    } catch (error) {
      throw new Error(`the control API at ${this.url} could not be reached`, { cause: error });
    }
  }
}

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export const isOnThisMachine = (url: string): boolean => LOOPBACK.test(new URL(url).hostname);

/**
 * An option of `fetch` in Bun: without it, Bun would send a request for this machine, with the control key, to the proxy that the environment names.
 * Runtimes other than Bun ignore the option `proxy` of `fetch`.
 */
const directTo = (url: string): object => (isOnThisMachine(url) ? { proxy: false } : {});

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
