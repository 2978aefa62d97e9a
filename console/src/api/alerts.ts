/** What needs somebody's attention. It comes with the stream of requests, and is read anew after what a person does. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, dataOf } from "./client.ts";

export const alertsQuery = (w: string) =>
  queryOptions({ queryKey: ["alerts", w], queryFn: () => dataOf(api.GET("/v1/worlds/{w}/alerts", { params: { path: { w } } })) });

/** Undefined: not known yet. */
export const useAlerts = (w: string) => useQuery(alertsQuery(w)).data?.data;

export type Alert = NonNullable<ReturnType<typeof useAlerts>>[number];
