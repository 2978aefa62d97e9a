/** Requests of the commands to the control API of a running server. */
import { ConfigProblem } from "#config/config";
import { environment } from "#config/environment";
import { commandWarnings } from "#config/read-config";
import { mayHaveServer, serverAddress, unreachable } from "./running-server.ts";
import { fail, note, WRONG_USE } from "./terminal/output.ts";

export interface ControlRequests {
  /** Of the server. */
  readonly url: string;
  /** The path of the world, e.g. `/v1/worlds/default`. */
  readonly world: string;
  /** `path` is relative to the world, e.g. `deliveries`. Rejects with the message of the API. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
  request(method: string, path: string, body?: unknown): Promise<any>;
  /** `path` begins with a slash. What the API says is returned as it is. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

type Given = Readonly<Record<string, unknown>>;

export async function controlRequests(given: Given): Promise<ControlRequests> {
  const { url, key, tls } = await serverAddress(given);
  const world = `/v1/worlds/${encodeURIComponent(String(given.world_name ?? "default"))}`;
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    try {
      return await fetch(url + path, { ...init, tls, headers: { ...init.headers, authorization: `Bearer ${key}` } });
    } catch (error) {
      throw unreachable(url, error);
    }
  };
  return {
    ...{ url, world, send },
    async request(method, path, body) {
      const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      return resultOf(await send(path.startsWith("/") ? path : `${world}/${path}`, { method, ...json }));
    },
  };
}

/** The JSON of a response. Throws the message of the API where it refuses. */
// biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
export async function resultOf(response: Response): Promise<any> {
  const text = await response.text();
  let body: { error?: { message: string } } | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ControlRefusal(`${new URL(response.url).origin} is no control API: it returned ${response.status} without JSON`);
  }
  if (!response.ok) throw new ControlRefusal(body?.error?.message ?? `the control API returned ${response.status}`);
  return body;
}

/** The control API refused a request; the message says why. */
export class ControlRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ControlRefusal";
  }
}

/**
 * Resolves with the exit code. What is refused, and a server that cannot be reached, are one line on stderr. `ifNone` is called in place
 * of `run` where no server is named and none runs on the data.
 */
export async function withServer(given: Given, run: (control: ControlRequests) => Promise<number>, ifNone?: () => number): Promise<number> {
  for (const warning of commandWarnings(environment())) note(`plaza: ${warning}`);
  try {
    if (ifNone !== undefined && !(await mayHaveServer(given))) return ifNone();
    return await run(await controlRequests(given));
  } catch (error) {
    if (error instanceof ControlRefusal) return fail(error.message);
    if (error instanceof ConfigProblem) return fail(error.message, WRONG_USE);
    throw error;
  }
}
