/** Which of the last requests somebody wants to see. */
import { type Static, Type } from "typebox";
import { secondsOf, worldTime } from "#graph/worlds/file/schema-words";
import type { RequestEntry } from "#graph/worlds/request-log";

export const requestFilter = Type.Object({
  operation: Type.Optional(Type.String({ description: "e.g. createPersona" })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  status_class: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: "the first digit of the status, e.g. 4" })),
  method: Type.Optional(Type.String({ description: "as sent, e.g. POST" })),
  app: Type.Optional(Type.String({ description: "its id" })),
  search: Type.Optional(Type.String({ description: "a part of the path, the operation, the query or the trace id" })),
  delivery: Type.Optional(Type.String({ description: "the request that caused this webhook, if it was recorded with its story" })),
  since: Type.Optional({ ...worldTime, description: "Unix seconds or ISO 8601" }),
});
export type RequestFilter = Static<typeof requestFilter>;

/** World time, Unix ms. Throws 400 for what is no time. */
export const sinceMsOf = ({ since }: RequestFilter): number => (since === undefined ? 0 : secondsOf(since, "since") * 1000);

export function isAsked(entry: RequestEntry, filter: RequestFilter, sinceMs: number): boolean {
  const { operation, status, status_class, method, app, search, delivery } = filter;
  return (
    (operation === undefined || entry.operation === operation) &&
    (status === undefined || entry.status === status) &&
    (status_class === undefined || Math.floor(entry.status / 100) === status_class) &&
    (method === undefined || entry.method === method) &&
    (app === undefined || entry.app === app) &&
    (search === undefined || [entry.path, entry.operation, entry.query, entry.trace_id].some((text) => text.includes(search))) &&
    (delivery === undefined || entry.story?.deliveries.includes(delivery) === true) &&
    entry.time >= sinceMs
  );
}
