import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";

/** The number of callbacks on one page of the API. */
const LIMIT = 1_000;

const callbacksQuery = (w: string) =>
  queryOptions({
    queryKey: ["callbacks", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/callbacks", { params: { path: { w }, query: { limit: LIMIT } } })),
  });

export const useCallbacks = (w: string) => useQuery(callbacksQuery(w));

export type Callback = NonNullable<ReturnType<typeof useCallbacks>["data"]>["data"][number];
