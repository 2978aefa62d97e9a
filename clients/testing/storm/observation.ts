/** The requests and webhooks of one run, and the points of the run at which a fault can strike. */
import type { Operations } from "../control-api.ts";
import type { World } from "../world.ts";

export type LoggedRequest = Operations["listRequests"]["response"]["data"][number];
export type LoggedDelivery = Operations["listDeliveries"]["response"]["data"][number];

export interface Observation {
  /** The requests to the graph, the oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The webhooks, the oldest first. A webhook that was sent in the POST of another webhook is a webhook of its own. */
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

/** Reads the webhooks one by one, because it depends on the speed of the machine how many of them share a POST. */
export async function readDeliveries(world: World): Promise<readonly LoggedDelivery[]> {
  const posts = await world.webhooks.list({ limit: LISTED_MAX });
  const webhooks = await Promise.all(posts.map((post) => (post.updates === 1 ? [post] : webhooksIn(world, post))));
  // The ids of webhooks grow with time.
  return webhooks.flat().sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
}

async function webhooksIn(world: World, post: LoggedDelivery): Promise<LoggedDelivery[]> {
  const { events } = await world.control<Operations["readDelivery"]["response"]>("GET", `deliveries/${post.id}`);
  return events.map(({ delivery: id, field }) => ({ ...post, id, field }));
}

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
  /** The number of the point among those of the same name, counted from 1. */
  readonly nth: number;
  /**
   * The number of requests or webhooks that a fault at this point lets pass: earlier requests of the operation, or earlier webhooks of the field about
   * the same page or account, which one callback gets in the order of their events. Without `entity`, all earlier webhooks of the field.
   */
  readonly skip: number;
  /** The logged request. Left out for a request inside a batch, because only the whole batch has an entry in the log. */
  readonly request?: LoggedRequest;
  /** Whether this is one request of a batch or of `ids=`. A request inside a batch or `ids=` has no response of its own that could get lost. */
  readonly isPart?: true;
  readonly delivery?: LoggedDelivery;
  /** The page or account that the webhook is about. Left out if the page or account has another id in each run, because the scenario makes it. */
  readonly entity?: string;
}

export const pointName = ({ name, nth }: Pick<Point, "name" | "nth">): string => `${name}#${nth}`;

/** Stands for the operation of a request that reached no operation. Storm tries no faults on a request without an operation. */
const UNKNOWN = "unknown";

/**
 * Lists the points of a run at which a fault can strike. Each request of a batch counts as a request of its own operation, as it does for faults
 * (D-375). A read that is repeated unchanged, for example by a program that waits, is one point. A webhook without a callback is not a point.
 * `entities` has the pages and accounts that every run has; by default all have the same ids in every run.
 */
export function pointsOf({ requests, deliveries }: Observation, entities?: ReadonlySet<string>): readonly Point[] {
  const points: Point[] = [];
  const counts = new Map<string, number>();
  /** Returns the number of earlier calls with the same key. */
  const count = (key: string): number => {
    const earlier = counts.get(key) ?? 0;
    counts.set(key, earlier + 1);
    return earlier;
  };
  const add = (point: Omit<Point, "nth">): void => void points.push({ ...point, nth: count(`${point.kind} ${point.name}`) + 1 });
  const seen = new Set<string>();
  for (const request of requests) {
    for (const name of request.parts ?? []) {
      const skip = count(name);
      if (name !== UNKNOWN) add({ kind: "request", name, skip, isPart: true });
    }
    const skip = count(request.operation);
    const isRepeated = request.method === "GET" && seen.has(readKey(request));
    seen.add(readKey(request));
    if (!isRepeated && request.operation !== UNKNOWN) add({ kind: "request", name: request.operation, skip, request });
  }
  for (const delivery of deliveries) {
    const { callback, field, entity } = delivery;
    // The state of a webhook is not considered, because it depends on the speed of the machine whether the last webhooks reach an app that ends.
    if (callback === undefined) continue;
    const [ofField, ofEntity] = [count(`all ${field}`), count(`${field} of ${entity}`)];
    if (entities === undefined || entities.has(entity)) add({ kind: "webhook", name: field, skip: ofEntity, delivery, entity });
    else add({ kind: "webhook", name: field, skip: ofField, delivery });
  }
  return points;
}

const readKey = ({ operation, path, query }: LoggedRequest): string => `${operation} ${path}?${query}`;

/**
 * The first difference between two runs without faults: in their requests, or else in their webhooks. Undefined if the runs agree. The order of
 * requests may differ between the runs, because an app may send several requests at the same time.
 */
export function differenceOf(one: Observation, other: Observation): string | undefined {
  const [first, second] = [one, other].map((run) => countsOf(pointsOf(run).map(({ kind, name }) => `${kind} of ${name}`)));
  for (const name of new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])])) {
    const [a, b] = [first?.get(name) ?? 0, second?.get(name) ?? 0];
    if (a !== b) return `${name}: ${a} in the first run, ${b} in the second`;
  }
  return undefined;
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
