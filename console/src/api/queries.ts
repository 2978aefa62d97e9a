/** Queries to the control API that several views of the console use. */

import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, dataOf } from "./client.ts";

const A_MINUTE_MS = 60_000;

export const queryClient = new QueryClient({
  // No query polls. The console reads data again if a stream reports a change, or when the tab gets the focus.
  defaultOptions: { queries: { retry: false, staleTime: 2_000 } },
});

export const serverQuery = queryOptions({ queryKey: ["server"], queryFn: () => dataOf(api.GET("/v1/server")), staleTime: Number.POSITIVE_INFINITY });
export const errorsQuery = queryOptions({ queryKey: ["errors"], queryFn: () => dataOf(api.GET("/v1/errors")), staleTime: Number.POSITIVE_INFINITY });
export const worldsQuery = queryOptions({ queryKey: ["worlds"], queryFn: () => dataOf(api.GET("/v1/worlds")), staleTime: A_MINUTE_MS });

export const clockQuery = (w: string) =>
  queryOptions({
    queryKey: ["clock", w],
    queryFn: async () => {
      const clock = await dataOf(api.GET("/v1/worlds/{w}/clock", { params: { path: { w } } }));
      return { ...clock, readAtMs: Date.now() };
    },
  });

export const requestQuery = (w: string, trace_id: string) =>
  queryOptions({
    queryKey: ["request", w, trace_id],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/requests/{trace_id}", { params: { path: { w, trace_id } } })),
    staleTime: A_MINUTE_MS,
  });

export const deliveryQuery = (w: string, id: string) =>
  queryOptions({
    queryKey: ["delivery", w, id],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/deliveries/{id}", { params: { path: { w, id } } })),
  });

export const tokensQuery = (w: string) =>
  queryOptions({
    queryKey: ["tokens", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/tokens", { params: { path: { w }, query: { limit: 1000 } } })),
  });

export const operationsQuery = (w: string) =>
  queryOptions({
    queryKey: ["operations", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/operations", { params: { path: { w } } })),
    staleTime: A_MINUTE_MS,
  });

/**
 * Returns the control API's description of the server, with the addresses of one world. The addresses of all worlds but
 * the first are below `/w/{world}`.
 */
export function useServer(w: string) {
  const server = useQuery(serverQuery).data;
  return useMemo(() => (server === undefined || w === "default" ? server : inWorld(server, w)), [server, w]);
}

function inWorld<T extends object>(server: T, w: string): T {
  const moved = Object.entries(server).map(([name, value]) => {
    if (typeof value !== "string" || !/^https?:/.test(value)) return [name, value];
    const { origin, pathname } = new URL(value);
    return [name, `${origin}/w/${w}${pathname === "/" ? "" : pathname}`];
  });
  return Object.fromEntries(moved) as T;
}
