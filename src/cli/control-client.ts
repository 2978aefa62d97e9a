/** Requests of the commands to the control API of a running server. */
import { ConfigProblem } from "#config/config";
import { environment } from "#config/environment";
import { trimmedEnd } from "#kernel/text";

export interface ControlRequests {
  /** `path` is relative to the world, e.g. `deliveries`. Rejects with the message of the API. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are JSON whose shape the caller knows.
  request(method: string, path: string, body?: unknown): Promise<any>;
}

type Given = Readonly<Record<string, unknown>>;

export function controlRequests(given: Given): ControlRequests {
  const { PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY } = environment();
  const url = given.control_url ?? PLAZA_CONTROL_URL ?? "http://127.0.0.1:4001";
  const key = given.control_key ?? PLAZA_CONTROL_KEY;
  if (typeof url !== "string" || !URL.canParse(url)) throw new ConfigProblem("--control-url", `"${url}" is not an address`);
  if (key === undefined) throw new ConfigProblem("--control-key", "is required; you can also set PLAZA_CONTROL_KEY");
  const base = `${trimmedEnd(url, "/").replace(/\/v1$/, "")}/v1/worlds/${encodeURIComponent(String(given.world_name ?? "default"))}`;
  return {
    async request(method, path, body) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      let response: Response;
      try {
        response = await fetch(`${base}/${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
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
