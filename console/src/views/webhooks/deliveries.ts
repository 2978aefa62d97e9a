/** The webhooks of a world: pages of a list, and the newest ones as they change. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { follow } from "../../api/events.ts";
import { type List, useList } from "../../api/lists.ts";
import { deliveryQuery } from "../../api/queries.ts";
import { definedIn } from "../../api/tail.ts";

export interface DeliveryFilter {
  readonly status?: string | undefined;
  readonly callback?: string | undefined;
  readonly field?: string | undefined;
}

const LIMIT = 100;

const readDeliveries = (w: string, filter: DeliveryFilter, after: string | undefined) =>
  dataOf(api.GET("/v1/worlds/{w}/deliveries", { params: { path: { w }, query: definedIn({ ...filter, limit: LIMIT, after }) } }));

export type Delivery = Awaited<ReturnType<typeof readDeliveries>>["data"][number];

/** The webhooks that match a filter. The newer webhooks from the stream replace the same webhooks in the list. */
export function useDeliveries(w: string, filter: DeliveryFilter): List<Delivery> {
  const list = useList(["deliveries", w, filter], (after) => readDeliveries(w, filter, after));
  const client = useQueryClient();
  const [newest, setNewest] = useState<readonly Delivery[]>([]);
  useEffect(
    () =>
      follow({
        address: () => `/v1/worlds/${encodeURIComponent(w)}/deliveries/stream`,
        take({ data }) {
          setNewest((JSON.parse(data) as { data: Delivery[] }).data);
          void client.invalidateQueries({ queryKey: deliveryQuery(w, "").queryKey.slice(0, 2) });
          void client.invalidateQueries({ queryKey: ["callbacks", w] });
          void client.invalidateQueries({ queryKey: ["deadlines", w] });
        },
        state() {},
        connected: () => void client.invalidateQueries({ queryKey: ["deliveries", w] }),
      }),
    [w, client],
  );
  const { rows } = list;
  const merged = useMemo(() => {
    const wanted = newest.filter((one) => matches(one, filter));
    const known = new Set(newest.map(({ id }) => id));
    return [...wanted, ...rows.filter(({ id }) => !known.has(id))].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1));
  }, [newest, rows, filter]);
  return { ...list, rows: merged };
}

const matches = (one: Delivery, { status, callback, field }: DeliveryFilter): boolean =>
  (status === undefined || one.status === status) &&
  (callback === undefined || one.callback_id === callback) &&
  (field === undefined || one.field === field);
