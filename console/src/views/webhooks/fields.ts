/** The webhook fields of the catalogue, to which apps can subscribe. */
import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";

export const useFields = (w: string) =>
  useQuery({
    queryKey: ["webhook-fields", w],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/webhook-fields", { params: { path: { w } } })),
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.data;
