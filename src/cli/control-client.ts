/** Requests of the commands to the control API of a running server. */
import { ConfigProblem } from "#config/config";
import { serverAddress } from "./running-server.ts";

export interface ControlRequests {
  /** `path` is relative to the world, e.g. `deliveries`. Rejects with the message of the API. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
  request(method: string, path: string, body?: unknown): Promise<any>;
}

type Given = Readonly<Record<string, unknown>>;

export async function controlRequests(given: Given): Promise<ControlRequests> {
  const { url, key, tls } = await serverAddress(given);
  const base = `${url}/v1/worlds/${encodeURIComponent(String(given.world_name ?? "default"))}`;
  return {
    async request(method, path, body) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      let response: Response;
      try {
        response = await fetch(`${base}/${path}`, { method, headers, tls, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      } catch (error) {
        throw new ConfigProblem("--control-url", `${url} could not be reached: ${error instanceof Error ? error.message : error}`);
      }
      const responseBody = (await response.json()) as { error?: { message: string } };
      if (!response.ok) throw new ControlRefusal(responseBody.error?.message ?? `the control API returned ${response.status}`);
      return responseBody;
    },
  };
}

/** The control API refused a request; the message says why. */
export class ControlRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ControlRefusal";
  }
}
