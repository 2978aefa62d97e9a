/** Triggers an event, and waits for the result at each callback. */
import { setTimeout as sleep } from "node:timers/promises";
import { suggestion } from "#kernel/suggestion";
import type { WebhookField } from "#webhooks/catalogue/field";
import { ControlRefusal, type ControlRequests, WrongParameter } from "./requests.ts";

/** The time for which the caller waits for the results of deliveries. The time is longer than the 15 s in which a callback must respond (D-62). */
const WAIT_MS_MAX = 17_000;
const LOOK_MS = 50;

/** The key of a world file for each object of webhooks. The nodes of this key are the nodes that the object's events are about. */
export const nodesOf = { social: "social_accounts", chatapp_business_account: "chatapp_accounts", page: "pages", catalog: "catalogs" } as const;

/** A delivery with the properties that people see. */
export interface Delivery {
  readonly id: string;
  readonly app: string;
  readonly callback?: string;
  readonly object: string;
  readonly field: string;
  readonly entity: string;
  readonly status: string;
  readonly reason?: string;
  readonly updates: number;
  /** The time of the attempt in Unix seconds. */
  readonly time: number;
  readonly attempts: readonly { readonly status?: number; readonly latency_ms?: number; readonly error?: string; readonly answer?: string }[];
}

/** Describes a delivery in a line: `501 app 1001 http://…: delivered 200 in 3 ms`. */
export function lineOf({ id, app, callback, status, reason, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const response = last === undefined ? "" : ` ${last.status ?? last.error}${last.latency_ms === undefined ? "" : ` in ${last.latency_ms} ms`}`;
  return `${id} app ${app} ${callback ?? "(no callback)"}: ${status}${reason === undefined ? "" : ` (${reason})`}${response}`;
}

/** Finds a field by `object.field`, or by its name alone, which selects the first object with such a field. Throws `WrongParameter`. */
export function fieldOf(all: readonly WebhookField[], event: string): WebhookField {
  const found = all.find(({ object, field }) => event === `${object}.${field}`) ?? all.find(({ field }) => event === field);
  if (found !== undefined) return found;
  throw new WrongParameter("event", `there is no event ${event}${suggestion(event, eventNames(all))}`);
}

/** The names by which a caller can choose one of the events. */
export const eventNames = (all: readonly WebhookField[]): string[] => [...new Set(all.flatMap(({ object, field }) => [field, `${object}.${field}`]))];

/** Finds the id of the world's first account, page or catalog that can have events of the object. */
export async function anyEntityOf(control: ControlRequests, object: WebhookField["object"]): Promise<string> {
  const key = nodesOf[object];
  const { data } = (await control.request("GET", `nodes/${key}?limit=1`)) as { data: { id: string }[] };
  const [first] = data;
  if (first === undefined) throw new ControlRefusal(`the world has no ${key}: choose an account, page or catalog as the entity`);
  return first.id;
}

interface Event {
  readonly entity: string;
  readonly phone_number?: string;
  /** The payload of the event. If a caller leaves the payload of an event out, the server sends an example. */
  readonly value?: unknown;
}

/** Triggers the event. Yields each delivery after its first attempt, or when the time limit for waiting has passed. */
export async function* triggered(control: ControlRequests, { object, field }: WebhookField, event: Event): AsyncGenerator<Delivery> {
  const { deliveries } = (await control.request("POST", "deliveries/trigger", { object, field, ...event })) as { deliveries: string[] };
  for (const id of deliveries) yield await ended(control, id);
}

async function ended(control: ControlRequests, id: string): Promise<Delivery> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const delivery = (await control.request("GET", `deliveries/${id}`)) as Delivery;
    const isOver = (delivery.status !== "waiting" && delivery.status !== "sending") || delivery.attempts.length > 0;
    if (isOver || waited >= WAIT_MS_MAX) return delivery;
    await sleep(LOOK_MS);
  }
}
