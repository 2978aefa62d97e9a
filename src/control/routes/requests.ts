/** The last requests, and an assertion over them that waits. */
import { type Static, Type } from "typebox";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { secondsOf, worldTime } from "#graph/worlds/file/schema-words";
import type { RequestEntry } from "#graph/worlds/request-log";
import { countedWithin, expectEntries } from "./expectations/expectation.ts";

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
});

const expectation = Type.Object(
  {
    operation: Type.Optional(Type.String()),
    match: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description:
        "what an entry must hold: a key of the entry with its value. For query, request_body and response_body a map is compared with the decoded form or JSON, key by key; a text must be part of it",
    }),
    ...countedWithin("requests"),
  },
  { additionalProperties: false },
);
type Expectation = Static<typeof expectation>;

const shown = ({ time, ...entry }: RequestEntry) => ({ ...entry, time: time / 1000 });

async function listRequests({ world, query }: ControlRequest<Static<typeof requestsQuery>>): Promise<unknown> {
  const { operation, status } = query;
  const since = query.since === undefined ? 0 : secondsOf(query.since, "since") * 1000;
  const isAsked = (entry: RequestEntry) =>
    (operation === undefined || entry.operation === operation) && (status === undefined || entry.status === status) && entry.time >= since;
  return { data: world.requests.entries().filter(isAsked).map(shown), paging: {} };
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
  route({
    method: "GET",
    path: "/v1/worlds/{w}/requests",
    operation: "listRequests",
    summary: "The last 1,000 requests, or as many as 8 MB hold, the newest first",
    query: requestsQuery,
    response: listOf(seenRequest),
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
