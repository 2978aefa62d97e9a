/** A control API that says what a test wants and notes what it is asked, for commands that run in the process of the test. */
import { afterThisTest } from "../cleanup.ts";

export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** JSON where it can be read as such, and undefined where there is none. */
  readonly body?: unknown;
}

const KEY = "the-key-of-the-stub";

/** `respond` returns a response, or what its JSON is. */
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
    /** Options of a command, as it gets them from its command line. */
    given: { control_url: url, control_key: KEY, world_name: "default" },
    /** The same on a command line. */
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
