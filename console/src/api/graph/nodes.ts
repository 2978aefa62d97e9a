/** Nodes of every kind, in the form that a world file has. The console takes the kinds of nodes from the OpenAPI document of the control API. */
import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "../client.ts";
import { type Document, type Entry, kindsIn } from "./kinds.ts";

/** The requests for all kinds of nodes have the same form, so the types of one kind are used for all kinds. */
const LIST = "/v1/worlds/{w}/nodes/labels";
const ONE = "/v1/worlds/{w}/nodes/labels/{id}";
const listPath = (kind: string) => `/v1/worlds/{w}/nodes/${kind}` as typeof LIST;
const onePath = (kind: string) => `/v1/worlds/{w}/nodes/${kind}/{id}` as typeof ONE;

export const kindsQuery = queryOptions({
  queryKey: ["kinds"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async () => kindsIn((await (await fetch("/v1/openapi.json")).json()) as Document),
});

const LIMIT = 200;
/** Names of nodes change seldom, and the console reads them again after each change that a person makes in it. */
const NAMES_MS = 30_000;

export const listNodes = (w: string, kind: string, after: string | undefined) =>
  dataOf(
    api.GET(listPath(kind), { params: { path: { w }, query: after === undefined ? { limit: LIMIT } : { limit: LIMIT, after } } }),
  ) as unknown as Promise<{
    data: Entry[];
    paging: { next?: string };
  }>;

/** The first page of the nodes of a kind, from which the console takes both the names of nodes and the choices in forms. */
export const nodesQuery = (w: string, kind: string) =>
  queryOptions({ queryKey: ["nodes", w, kind, "first"], queryFn: () => listNodes(w, kind, undefined), staleTime: NAMES_MS });

export const nodeQuery = (w: string, kind: string, id: string) =>
  queryOptions({
    queryKey: ["nodes", w, kind, "one", id],
    queryFn: () => dataOf(api.GET(onePath(kind), { params: { path: { w, id } } })) as unknown as Promise<Entry>,
  });

export const createNode = (w: string, kind: string, body: Entry) =>
  dataOf(api.POST(listPath(kind), { params: { path: { w } }, body: body as never })) as unknown as Promise<Entry>;

/** Changes a node. Keys that a person has removed are sent as null, which restores their defaults. */
export const updateNode = (w: string, kind: string, id: string, before: Entry, body: Entry) => {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(body, key));
  const change = Object.fromEntries(Object.entries(body).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])));
  const patch = { ...change, ...Object.fromEntries(gone.map((key) => [key, null])) };
  return dataOf(api.PATCH(onePath(kind), { params: { path: { w, id } }, body: patch as never })) as unknown as Promise<Entry>;
};

export const deleteNode = (w: string, kind: string, id: string) => dataOf(api.DELETE(onePath(kind), { params: { path: { w, id } } }));

export const textOf = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));
