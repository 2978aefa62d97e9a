/** Alerts of a world. They come with the stream of requests, and are read again after an action. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, dataOf } from "./client.ts";

export const alertsQuery = (w: string) =>
  queryOptions({ queryKey: ["alerts", w], queryFn: () => dataOf(api.GET("/v1/worlds/{w}/alerts", { params: { path: { w } } })) });

/** Undefined until it is known. */
export const useAlerts = (w: string) => useQuery(alertsQuery(w)).data?.data;

export type Alert = NonNullable<ReturnType<typeof useAlerts>>[number];
