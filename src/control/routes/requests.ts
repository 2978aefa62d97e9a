/** The last requests, and an assertion over them that waits. */
import { type Static, Type } from "typebox";
import { type ControlError, unprocessable } from "#control-contract/errors";
import { EVENT_STREAM, eventStream, wantsEvents } from "#control-contract/event-stream";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { secondsOf, worldTime } from "#graph/worlds/file/schema-words";
import type { RequestEntry, RequestLog } from "#graph/worlds/request-log";
import { isExpected, nearestOf } from "./request-matching.ts";

const seenRequest = Type.Object({
  trace_id: Type.String(),
  operation: Type.String(),
  method: Type.String(),
  surface: Type.String(),
  path: Type.String({ description: "its first 4,096 characters" }),
  query: Type.String({ description: "as sent, its first 4,096 characters, without the values of secrets" }),
  status: Type.Integer(),
  time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
  duration_ms: Type.Number(),
  app: Type.Optional(Type.String()),
  request_body: Type.String({ description: "its first 4,096 characters, without the values of secrets" }),
  response_body: Type.String({ description: "its first 4,096 characters, without the values of secrets" }),
});

const requestsQuery = Type.Object({
  operation: Type.Optional(Type.String({ description: "e.g. createPersona" })),
  status: Type.Optional(Type.Integer()),
  since: Type.Optional({ ...worldTime, description: "Unix seconds or ISO 8601" }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: "of those, the newest" })),
});

/** Long enough for any test; a request does not hold a connection for longer. */
const WITHIN_MS_MAX = 60_000;

const expectation = Type.Object(
  {
    operation: Type.Optional(Type.String()),
    match: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description:
        "what an entry must hold: a key of the entry with its value. For query, request_body and response_body a map is compared with the decoded form or JSON, key by key; a text must be part of it",
    }),
    count: Type.Integer({ minimum: 0, default: 1, description: "at least this many; 0: none at all, for the whole time" }),
    within_ms: Type.Integer({ minimum: 0, maximum: WITHIN_MS_MAX, default: 0, description: "how long to wait for them, in real time" }),
  },
  { additionalProperties: false },
);
type Expectation = Static<typeof expectation>;

const shown = ({ time, ...entry }: RequestEntry) => ({ ...entry, time: time / 1000 });

type RequestsQuery = Static<typeof requestsQuery>;

async function listRequests(request: ControlRequest<RequestsQuery>): Promise<unknown> {
  const { world, query } = request;
  const { operation, status } = query;
  const since = query.since === undefined ? 0 : secondsOf(query.since, "since") * 1000;
  const isAsked = (entry: RequestEntry) =>
    (operation === undefined || entry.operation === operation) && (status === undefined || entry.status === status) && entry.time >= since;
  if (wantsEvents(request)) return eventStream(request, (send) => follow(world.requests, (entry) => isAsked(entry) && send("request", shown(entry))));
  return { data: world.requests.entries().filter(isAsked).slice(0, query.limit).map(shown), paging: {} };
}

/** Calls `see` for each further request, in their order, until the returned function is called. */
function follow(requests: RequestLog, see: (entry: RequestEntry) => void): () => void {
  let known = requests.count;
  let isOver = false;
  const run = async (): Promise<void> => {
    for (;;) {
      await requests.next();
      if (isOver) return;
      const fresh = requests.entries(known).reverse();
      known = requests.count;
      for (const entry of fresh) if (!isOver) see(entry);
    }
  };
  void run();
  return () => {
    isOver = true;
  };
}

async function expectRequests({ deps, world, body }: ControlRequest<unknown, Expectation>): Promise<unknown> {
  const { count, within_ms } = body;
  const { monotonicMs, sleepMs } = deps.realTime;
  const until = monotonicMs() + within_ms;
  for (;;) {
    const all = world.requests.entries();
    const found = all.filter((entry) => isExpected(entry, body));
    const isMet = count === 0 ? found.length === 0 : found.length >= count;
    const remaining = until - monotonicMs();
    if (isMet && (count > 0 || remaining <= 0)) return { count: found.length, data: found.map(shown) };
    if (!isMet && (count === 0 || remaining <= 0)) throw unmet(all, found.length, body);
    await Promise.race([world.requests.next(), sleepMs(remaining)]);
  }
}

/** What was seen instead: enough to find the mistake. */
const SEEN_MAX = 50;

function unmet(all: readonly RequestEntry[], found: number, expected: Expectation): ControlError {
  const { operation, count } = expected;
  const data = all.filter((entry) => operation === undefined || entry.operation === operation).slice(0, SEEN_MAX);
  // Where none was expected, those that came are no misses.
  const nearest = count === 0 ? undefined : nearestOf(all, expected);
  const wanted = count === 0 ? "no request" : `${count} ${count === 1 ? "request" : "requests"}`;
  const inWords = nearest === undefined ? "" : `; the nearest differs in ${nearest.differences.map(({ at }) => at).join(", ")}`;
  return unprocessable(`expected ${wanted}, saw ${found}${inWords}`, undefined, {
    count: found,
    data: data.map(shown),
    ...(nearest === undefined ? {} : { nearest: { request: shown(nearest.entry), differences: nearest.differences } }),
  });
}

export const requestRoutes: readonly ControlRoute[] = [
  route({
    method: "GET",
    path: "/v1/worlds/{w}/requests",
    operation: "listRequests",
    summary: "The last 1,000 requests, or as many as 8 MB hold, the newest first; with Accept: text/event-stream, each further one as it is served",
    query: requestsQuery,
    response: listOf(seenRequest),
    streams: [EVENT_STREAM],
    errors: [404],
    handle: listRequests,
  }),
  route({
    method: "POST",
    path: "/v1/worlds/{w}/requests/expect",
    operation: "expectRequests",
    summary:
      "Waits until the last requests hold what is expected; 422 has the requests that were seen instead, and beside them the nearest with its differences",
    body: expectation,
    response: Type.Object({ count: Type.Integer(), data: Type.Array(seenRequest) }),
    errors: [404, 422],
    handle: expectRequests,
  }),
];
