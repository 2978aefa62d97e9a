/** The routes for the last graph requests: a list, one request by its trace id, a stream, and a check that waits for expected requests. */
import { type Static, Type } from "typebox";
import { notFound } from "#control-contract/errors";
import { EVENT_STREAM, eventStream, wantsEvents } from "#control-contract/event-stream";
import { countedWithin, expectEntries, met, unmet } from "#control-contract/expectation";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { findRequest } from "#graph/worlds/passed-requests";
import type { RequestEntry, RequestLog } from "#graph/worlds/request-log";
import { explainedEntry, isAsked, requestFilter, seenRequest, shown, storiedEntry, storiedRequest } from "./request-schemas.ts";
import { followRequests, requestsEvent } from "./request-stream.ts";

const listQuery = Type.Object({
  ...requestFilter.properties,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: "the maximum number of requests in the response; the newest requests are chosen" }),
  ),
  stories: Type.Optional(Type.Boolean({ description: "true: each request includes its story, i.e. its steps, token, parameters and error" })),
});

const streamQuery = Type.Object({
  ...requestFilter.properties,
  after: Type.Optional(
    Type.Integer({ minimum: 0, description: "the id of the last event that the reader received; by default the stream begins now" }),
  ),
  alerts: Type.Optional(
    Type.Boolean({
      description: "whether the stream also has the world's alerts, as events `alerts`: one at once, and one whenever the alerts change",
    }),
  ),
});

const expectation = Type.Object(
  {
    operation: Type.Optional(Type.String({ description: "e.g. createPersona" })),
    match: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description:
        "expected values of the request's keys. In query, request_body and response_body, a map is compared by key with the decoded form or JSON, and a text must be part of the recorded text",
    }),
    ...countedWithin("requests"),
  },
  { additionalProperties: false },
);
type Expectation = Static<typeof expectation>;

async function listRequests(request: ControlRequest<Static<typeof listQuery>>): Promise<unknown> {
  const { world, query } = request;
  const isWanted = (entry: RequestEntry): boolean => isAsked(entry, query);
  if (wantsEvents(request))
    return eventStream(request, (send) =>
      follow(world.requests, async (entry) => {
        if (isWanted(entry)) send("request", await explainedEntry(entry, request));
      }),
    );
  const show = query.stories === true ? storiedEntry : explainedEntry;
  const data: unknown[] = [];
  for (const entry of world.requests.entries().filter(isWanted).slice(0, query.limit)) data.push(await show(entry, request));
  return { data, paging: {} };
}

/** Calls `see` for each new request of the log, in order. The returned function ends the calls of `see`. */
function follow(requests: RequestLog, see: (entry: RequestEntry) => Promise<void>): () => void {
  let known = requests.count;
  let isOver = false;
  const run = async (): Promise<void> => {
    for (;;) {
      await requests.next();
      if (isOver) return;
      const fresh = requests.from(known);
      known = requests.count;
      for (const entry of fresh) if (!isOver) await see(entry);
    }
  };
  void run();
  return () => {
    isOver = true;
  };
}

async function readRequest(request: ControlRequest): Promise<unknown> {
  const { world, path } = request;
  const entry = await findRequest(world, path.trace_id as string);
  if (entry === undefined) throw notFound(`request ${path.trace_id} among the last requests`);
  return storiedEntry(entry, request);
}

async function streamRequests(request: ControlRequest<Static<typeof streamQuery>>): Promise<Response> {
  const { query } = request;
  const last = request.header("last-event-id");
  const after = query.after ?? (last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined);
  return followRequests(request, query, { after, hasAlerts: query.alerts === true });
}

async function expectRequests({ deps, world, body }: ControlRequest<unknown, Expectation>): Promise<unknown> {
  const { operation, match } = body;
  const { realTime } = deps;
  const { requests } = world;
  const entries = {
    what: "request",
    read: async () => requests.entries(),
    next: () => requests.next(),
    show: shown,
  };
  return expectEntries(entries, { kind: operation === undefined ? {} : { operation }, match }, body, realTime);
}

export const requestRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/requests", "listRequests", {
    summary:
      "Lists the last 1,000 requests, or as many as fit in 8 MB, the newest first; with Accept: text/event-stream, sends each new request as it is served",
    query: listQuery,
    response: listOf(storiedRequest),
    streams: [EVENT_STREAM],
    outlivesReset: true,
    handle: listRequests,
  }),
  route("GET /v1/worlds/{w}/requests/stream", "streamRequests", {
    summary: "Streams requests as server-sent events with a cursor, ten events a second at most. If too many requests come, some are only counted",
    query: streamQuery,
    response: requestsEvent,
    streams: [EVENT_STREAM],
    isStreamAlone: true,
    outlivesReset: true,
    handle: streamRequests,
  }),
  route("GET /v1/worlds/{w}/requests/{trace_id}", "readRequest", {
    summary: "Reads one of the last requests, of any process on the same database, with its story",
    response: storiedRequest,
    handle: readRequest,
  }),
  route("POST /v1/worlds/{w}/requests/expect", "expectRequests", {
    summary:
      "Waits until the last requests contain the expected ones. If they do not come, the response is 422, with the requests that were seen and the differences of the nearest one",
    body: expectation,
    response: met(seenRequest),
    errors: [422],
    unmet: unmet("request", seenRequest),
    handle: expectRequests,
  }),
];
