/** The route that lists the edges, fields and versions that programs requested and that Plaza does not have (D-394). */
import { Type } from "typebox";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { NAMES_MAX, type Unserved } from "#graph/worlds/unserved";

export const unserved = Type.Object({
  kind: Type.Unsafe<Unserved["kind"]>({ enum: ["edge", "field", "version"] }),
  name: Type.String({ description: "the name, e.g. fan_count; for an edge its address, with the node type in place of the id, e.g. page/insights" }),
  method: Type.Optional(Type.String({ description: "the method of the requests, if the name is an edge" })),
  of: Type.Optional(Type.String({ description: "the node type or the edge of which the field was requested, e.g. page" })),
  did_you_mean: Type.Optional(Type.String({ description: "the name that Plaza has and that differs only in a few letters" })),
  hint: Type.Optional(Type.String({ description: "says how Plaza serves this edge to other requests, e.g. by another method" })),
  count: Type.Integer({ description: "the number of requests for the name" }),
  apps: Type.Array(Type.String(), { description: "the apps that requested the name, at most 10; requests without a valid token have no app" }),
  first_time: Type.Number({ description: "world time in Unix seconds of the first request for the name" }),
  last_time: Type.Number({ description: "world time in Unix seconds of the last request for the name" }),
  trace_id: Type.String({ description: "the trace id of the last request for the name" }),
});

const list = Type.Object({
  data: Type.Array(unserved),
  others: Type.Integer({ description: `the number of requests for other names, which do not fit into the list of ${NAMES_MAX} names` }),
  paging: Type.Object({}),
});

const shown = ({ first_ms, last_ms, trace_id, ...asked }: Unserved) => ({
  ...asked,
  ...{ first_time: first_ms / 1000, last_time: last_ms / 1000, trace_id },
});

const listUnserved = async ({ world: { unserved: names } }: ControlRequest): Promise<unknown> => ({
  data: (names?.list() ?? []).map(shown),
  others: names?.others ?? 0,
  paging: {},
});

export const unservedRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/unserved", "listUnserved", {
    summary:
      "Lists the edges, fields and versions that programs requested and that Plaza does not have, the most frequent first. Only a sandbox collects these names, in memory, until the world is reset or the server ends",
    response: list,
    handle: listUnserved,
  }),
];
