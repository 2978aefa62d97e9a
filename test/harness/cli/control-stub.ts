/** A control API that returns the responses of a test and records the requests, for commands that run in the process of the test. */
import { afterThisTest } from "../cleanup.ts";

export interface Asked {
  readonly method: string;
  /** The path of the request, with its query. */
  readonly path: string;
  /** The body as JSON, or as text if it is not JSON; undefined if the request has no body. */
  readonly body?: unknown;
}

const KEY = "the-key-of-the-stub";

/** Starts the control API. `respond` returns a response, or a value to send as JSON. */
export function controlStub(respond: (asked: Asked) => unknown = () => ({})) {
  const asked: Asked[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const one = { method: request.method, path: pathname + search, ...(text === "" ? {} : { body: jsonOf(text) }) };
      asked.push(one);
      headers.push(request.headers);
      const response = await respond(one);
      return response instanceof Response ? response : Response.json(response);
    },
  });
  afterThisTest(() => server.stop(true));
  const url = `http://127.0.0.1:${server.port}`;
  return {
    ...{ url, asked, headers, key: KEY },
    /** The options of a command as the command gets them from its command line. */
    given: { control_url: url, control_key: KEY, world_name: "default" },
    /** The options of a command as words of a command line. */
    flags: ["--control-url", url, "--control-key", KEY],
    stop: () => server.stop(true),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
