/** The requests and webhooks of one run, and the points of the run at which a fault can strike. */
import type { Operations } from "../control-api.ts";
import type { World } from "../world.ts";

export type LoggedRequest = Operations["listRequests"]["response"]["data"][number];
export type LoggedDelivery = Operations["listDeliveries"]["response"]["data"][number];

export interface Observation {
  /** The requests to the graph, the oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The webhooks, the oldest first. */
  readonly deliveries: readonly LoggedDelivery[];
  /** The number of nodes of each kind at the end, by the key of a world file. */
  readonly nodes: ReadonlyMap<string, number>;
}

/** The server stores at most this number of requests, and shows at most this number of webhooks on a page. */
const LISTED_MAX = 1_000;
/**
 * The sections of a world file that may differ between two runs without a mistake of the app: an app gets new tokens after a token became invalid,
 * and the time moves.
 */
const NOT_COMPARED = new Set(["tokens", "clock"]);

export const readRequests = async (world: World): Promise<readonly LoggedRequest[]> =>
  [...(await world.requests.list({ limit: LISTED_MAX }))].reverse();

export const readDeliveries = async (world: World): Promise<readonly LoggedDelivery[]> =>
  [...(await world.webhooks.list({ limit: LISTED_MAX }))].reverse();

/** The number of nodes of each kind. Lists inside nodes are counted too, such as the people who have a label. */
export async function countNodes(world: World): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [key, entries] of Object.entries(await world.export())) {
    if (!Array.isArray(entries) || NOT_COMPARED.has(key)) continue;
    counts.set(key, entries.length);
    for (const entry of entries as readonly Record<string, unknown>[])
      for (const [name, value] of Object.entries(entry))
        if (Array.isArray(value)) counts.set(`${key}.${name}`, (counts.get(`${key}.${name}`) ?? 0) + value.length);
  }
  return counts;
}

/**
 * A point of the run without faults: a request or webhook, and its number among the requests of the same operation or the webhooks of the same
 * field.
 */
export interface Point {
  readonly kind: "request" | "webhook";
  /** The operation, or the webhook field. */
  readonly name: string;
  /** The number of the request or webhook among those of the same name, counted from 1. */
  readonly nth: number;
  /** The logged request. Left out for a request inside a batch, because only the whole batch has an entry in the log. */
  readonly request?: LoggedRequest;
  /** Whether this is one request of a batch or of `ids=`. A request inside a batch or `ids=` has no response of its own that could get lost. */
  readonly isPart?: true;
  readonly delivery?: LoggedDelivery;
}

export const pointName = ({ name, nth }: Pick<Point, "name" | "nth">): string => `${name}#${nth}`;

/** Stands for the operation of a request that reached no operation. Storm tries no faults on a request without an operation. */
const UNKNOWN = "unknown";

/**
 * Lists the points of a run at which a fault can strike. Each request of a batch counts as a request of its own operation, as it does for faults
 * (D-375). A read that is repeated unchanged, for example by a program that waits, is one point.
 */
export function pointsOf({ requests, deliveries }: Observation): readonly Point[] {
  const points: Point[] = [];
  const counts = new Map<string, number>();
  const next = (key: string): number => {
    const nth = (counts.get(key) ?? 0) + 1;
    counts.set(key, nth);
    return nth;
  };
  const seen = new Set<string>();
  for (const request of requests) {
    for (const name of request.parts ?? []) {
      const nth = next(`request ${name}`);
      if (name !== UNKNOWN) points.push({ kind: "request", name, nth, isPart: true });
    }
    const nth = next(`request ${request.operation}`);
    const isRepeated = request.method === "GET" && seen.has(readKey(request));
    seen.add(readKey(request));
    if (!isRepeated && request.operation !== UNKNOWN) points.push({ kind: "request", name: request.operation, nth, request });
  }
  for (const delivery of deliveries) {
    // A webhook with the status "sending" has reached the app; only the app's response is not stored yet.
    if (delivery.status !== "delivered" && delivery.status !== "sending") continue;
    points.push({ kind: "webhook", name: delivery.field, nth: next(`webhook ${delivery.field}`), delivery });
  }
  return points;
}

const readKey = ({ operation, path, query }: LoggedRequest): string => `${operation} ${path}?${query}`;

/**
 * The first difference between two runs without faults: in their requests, or else in their webhooks. Undefined if the runs agree. The order of
 * requests may differ between the runs, because an app may send several requests at the same time.
 */
export function differenceOf(one: Observation, other: Observation): { readonly kind: Point["kind"]; readonly text: string } | undefined {
  const runs = [one, other].map(pointsOf);
  for (const kind of ["request", "webhook"] as const) {
    const [first, second] = runs.map((points) => countsOf(points.filter((point) => point.kind === kind).map(({ name }) => name)));
    for (const name of new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])])) {
      const [a, b] = [first?.get(name) ?? 0, second?.get(name) ?? 0];
      if (a !== b) return { kind, text: `${kind} of ${name}: ${a} in the first run, ${b} in the second` };
    }
  }
  return undefined;
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
