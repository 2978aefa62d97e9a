/** `plaza logs`: prints the last requests of the graph, and with `--follow` each new request. */

import { type ControlRequests, resultOf } from "#control/client/requests";
import { readEvents } from "#control-contract/event-stream";
import { timeText } from "#kernel/clock";
import { type Given, withServer } from "../control-client.ts";
import { fail, note, printable, say } from "../terminal/output.ts";

interface Seen {
  readonly trace_id: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly time: number;
  readonly duration_ms: number;
  readonly app?: string;
  readonly reason?: string;
}

const LIMIT_DEFAULT = "20";
const NOT_FOUND = 404;

export function logs(given: Given): Promise<number> {
  const show = (entry: Seen): void => say(given.json === true ? JSON.stringify(entry) : printable(lineOf(entry)));
  return withServer(given, async (control) => {
    const filter = Object.entries({ operation: given.operation, status: given.status }).filter(
      (pair): pair is [string, string] => typeof pair[1] === "string",
    );
    const query = new URLSearchParams(filter);
    // The stream of requests begins before the list of requests is read, so that no request between the two is missed.
    const following = given.follow === true ? await follow(control, query) : undefined;
    const limit = new URLSearchParams([...filter, ["limit", String(given.limit ?? LIMIT_DEFAULT)]]);
    const { data } = (await control.request("GET", `requests?${limit}`)) as { data: Seen[] };
    for (const entry of data.reverse()) show(entry);
    if (following === undefined) {
      if (data.length === 0 && given.json !== true) note("no requests");
      return 0;
    }
    const known = new Set(data.map(({ trace_id }) => trace_id));
    for await (const { value: entry } of following) if (!known.delete(entry.trace_id)) show(entry);
    return ended(control);
  });
}

/** Prints why the stream of requests has ended. The promise rejects if the world was deleted. */
async function ended(control: ControlRequests): Promise<number> {
  const response = await control.send(`${control.world}/requests?limit=1`).catch(() => undefined);
  if (response?.status === NOT_FOUND) await resultOf(response);
  return fail("the server has ended");
}

async function follow(control: ControlRequests, query: URLSearchParams): Promise<AsyncIterable<{ readonly value: Seen }>> {
  const response = await control.send(`${control.world}/requests?${query}`, { headers: { accept: "text/event-stream" } });
  if (!response.ok) await resultOf(response);
  return readEvents<Seen>(response);
}

/** Writes the line about a request: `2026-11-22T10:00:00.000Z GET /v26.0/2001/personas 200 1.2 ms listPersonas app 1001 A…`. */
function lineOf({ time, method, path, status, duration_ms, operation, app, trace_id, reason }: Seen): string {
  return `${timeText(time)} ${method} ${path} ${status} ${duration_ms.toFixed(1)} ms ${operation}${app === undefined ? "" : ` app ${app}`} ${trace_id}${reason === undefined ? "" : `: ${reason}`}`;
}
