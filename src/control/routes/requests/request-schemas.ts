/** The schemas of graph requests in responses of the control API, and the functions that show these requests. */
import { type Static, Type } from "typebox";
import type { ControlRequest } from "#control-contract/route";
import { reasonOf } from "#graph/pipeline/story/reason";
import { partEntry, refusalReason } from "#graph/pipeline/story/refusal-reason";
import { deliveriesIn, readStory } from "#graph/pipeline/story/story-text";
import { worldTime } from "#graph/worlds/file/schema-words";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";

const text = Type.Optional(Type.String());

export const seenRequest = Type.Object({
  trace_id: Type.String(),
  operation: Type.String({
    description: "the operation's name; batch or ids for a request that contains other requests; unknown if no operation has this path",
  }),
  parts: Type.Optional(
    Type.Array(Type.String(), { description: "the operations of the requests of a batch or of ids, in the order in which they ran" }),
  ),
  method: Type.String(),
  surface: Type.String(),
  path: Type.String({ description: "the first 4,096 characters of the path" }),
  query: Type.String({ description: "the query as it was sent, the first 4,096 characters, without the values of secrets" }),
  status: Type.Integer(),
  time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
  duration_ms: Type.Number(),
  app: text,
  request_body: Type.String({ description: "the first 4,096 characters, without the values of secrets" }),
  response_body: Type.String({ description: "the first 4,096 characters, without the values of secrets" }),
  reason: Type.Optional(
    Type.String({ description: "why the request was refused, or why it caused no webhook, in one sentence with the change that solves it" }),
  ),
});

/** The schema of a graph request in a list of requests. */
export const requestLine = Type.Pick(seenRequest, [
  "trace_id",
  "operation",
  "method",
  "surface",
  "path",
  "status",
  "time",
  "duration_ms",
  "app",
  "reason",
]);

const story = Type.Object({
  steps: Type.Array(
    Type.Object({ name: Type.Unsafe<string>({ enum: ["understand", "check", "handle", "respond"] }), duration_ms: Type.Optional(Type.Number()) }),
    {
      description:
        "the steps of the request; the last step of a refused request is the step that refused the request. At most one request in 10 ms has durations of its steps",
    },
  ),
  credentials: Type.Array(
    Type.Object({
      place: Type.Unsafe<string>({ enum: ["access_token", "oauth_token", "bearer", "body"] }),
      type: text,
      token: Type.Optional(Type.String({ description: "the id of the token in the list of tokens" })),
      app: text,
      of: Type.Optional(Type.String({ description: "the page, person or account to which the token belongs" })),
      refusal: Type.Optional(Type.String({ description: "the reason why the token is not valid" })),
    }),
  ),
  node: Type.Optional(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      owner: Type.Optional(
        Type.String({ description: "the page, app or account to which the node belongs; left out if the request was simply served" }),
      ),
    }),
  ),
  version: Type.Object({ asked: text, served: text, upgraded_from: text }),
  policy: Type.Optional(
    Type.Object({ name: Type.String(), summary: Type.String(), kinds: Type.Array(Type.String()), scopes: Type.Array(Type.String()) }),
  ),
  is_concealed: Type.Optional(Type.Boolean({ description: "whether the node exists, but the caller may not know that" })),
  parameters: Type.Optional(
    Type.String({ description: "the parameters as they were read, as JSON: the first 1,024 characters, without the values of secrets" }),
  ),
  error: Type.Optional(Type.String({ description: "the name of the error in the list of errors" })),
  message: Type.Optional(Type.String({ description: "the message of the error" })),
  data: Type.Optional(Type.Object({}, { additionalProperties: true, description: "facts about the error, e.g. its parameter" })),
  fault: Type.Optional(Type.String({ description: "JSON of the fault that affected the request: its id and effect" })),
  deliveries: Type.Array(Type.String(), { description: "the webhooks that the request caused" }),
  unsent: Type.Optional(
    Type.Array(Type.Object({ object: Type.String(), field: Type.String(), entity: Type.String() }), {
      description: "the first events of the request that no app was subscribed to, so that they caused no webhook",
    }),
  ),
  parts: Type.Optional(
    Type.Array(Type.Object({ ...Type.Pick(seenRequest, ["operation", "method", "status", "reason"]).properties, path: Type.String() }), {
      description: "the first 50 requests of a batch or of ids, in the order in which they ran, with the first 100 characters of their paths",
    }),
  ),
  parts_left_out: Type.Optional(Type.Integer({ description: "the number of further requests of the batch or of ids" })),
});

export const storiedRequest = Type.Object({ ...seenRequest.properties, story: Type.Optional(story) });

const inSeconds = (time: number): number => time / 1000;

export const shown = ({ time, story: _, ...entry }: RequestEntry) => ({ ...entry, time: inSeconds(time) });

type Around = { readonly deps: Pick<ControlRequest["deps"], "registry">; readonly world: World };

/** Shows a request with the reason for its response. */
export async function explainedEntry(entry: RequestEntry, { deps, world }: Around) {
  const reason = await reasonOf(entry, deps.registry, world);
  return { ...shown(entry), ...(reason === undefined ? {} : { reason }) };
}

/** Shows a request with the reason for its response and the steps of its handling. */
export async function storiedEntry(entry: RequestEntry, around: Around) {
  const story = readStory(entry, around.deps.registry);
  const explained = await explainedEntry(entry, around);
  if (story?.parts === undefined) return { ...explained, ...(story === undefined ? {} : { story }) };
  const parts: unknown[] = [];
  for (const part of story.parts) {
    const { operation, method, path, status } = part;
    const reason = await reasonOf(partEntry(entry, part), around.deps.registry, around.world);
    parts.push({ operation, method, path, status, ...(reason === undefined ? {} : { reason }) });
  }
  return { ...explained, story: { ...story, parts } };
}

/**
 * Shows a request in a list, without its bodies. In the list, only a failed request has a reason, because finding the
 * reason for an error needs no query.
 */
export function lineShown(entry: RequestEntry, { deps: { registry }, world }: Around) {
  const { trace_id, operation, method, surface, path, status, time, duration_ms, app } = entry;
  const story = status < 400 && entry.parts === undefined ? undefined : readStory(entry, registry);
  const reason = story === undefined ? undefined : refusalReason({ entry, story, registry, world });
  return {
    ...{ trace_id, operation, method, surface, path, status, duration_ms, time: inSeconds(time) },
    ...(app === undefined ? {} : { app }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The filters for the list of the last requests. */
export const requestFilter = Type.Object({
  operation: Type.Optional(Type.String({ description: "e.g. createPersona" })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  status_class: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: "the first digit of the status, e.g. 4" })),
  method: Type.Optional(Type.String({ description: "the method of the request, e.g. POST" })),
  app: Type.Optional(Type.String({ description: "the id of the app" })),
  search: Type.Optional(Type.String({ description: "a part of the path, the operation, the query or the trace id" })),
  delivery: Type.Optional(Type.String({ description: "the id of a webhook: only the request that caused this webhook" })),
  since: Type.Optional({ ...worldTime, description: "only requests since this world time: Unix seconds or ISO 8601" }),
});
export type RequestFilter = Static<typeof requestFilter>;

export function isAsked(entry: RequestEntry, filter: RequestFilter): boolean {
  const { operation, status, status_class, method, app, search, delivery, since = 0 } = filter;
  return (
    (operation === undefined || entry.operation === operation) &&
    (status === undefined || entry.status === status) &&
    (status_class === undefined || Math.floor(entry.status / 100) === status_class) &&
    (method === undefined || entry.method === method) &&
    (app === undefined || entry.app === app) &&
    (search === undefined || [entry.path, entry.operation, entry.query, entry.trace_id].some((text) => text.includes(search))) &&
    (delivery === undefined || deliveriesIn(entry.story).includes(delivery)) &&
    entry.time >= since * 1000
  );
}
