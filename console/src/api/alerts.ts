/** The alerts of a world. The stream of requests delivers the alerts, and the console reads the alerts again after an action. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, dataOf } from "./client.ts";

export const alertsQuery = (w: string) =>
  queryOptions({ queryKey: ["alerts", w], queryFn: () => dataOf(api.GET("/v1/worlds/{w}/alerts", { params: { path: { w } } })) });

/** The alerts of a world, or undefined until the console has read them. */
export const useAlerts = (w: string) => useQuery(alertsQuery(w)).data?.data;

export type Alert = NonNullable<ReturnType<typeof useAlerts>>[number];
