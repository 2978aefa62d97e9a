/**
 * I1-35: the test events view: what came in lately on the App channel, event by event, with a verdict. In memory, and live. Where
 * several processes serve the graph, each tells the one that shows the view (`--workers`).
 */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";

type Verdict = "accepted" | "duplicate" | "refused";

export interface TestEvent {
  readonly channel: "App";
  readonly app: NodeId;
  /** Unix seconds. */
  readonly received_time: number;
  readonly event: string;
  /** Of custom events, as sent. */
  readonly event_name?: string;
  readonly event_id?: string;
  readonly verdict: Verdict;
  /** Why it was refused: the request's error. */
  readonly reason?: string;
  /** How many values of user data were not hashed, and so not kept. */
  readonly dropped_user_data: number;
}

/** A request as it is remembered; its events are written out when somebody looks. */
export interface SeenRequest {
  readonly app: NodeId;
  readonly received: number;
  readonly kind: string;
  /** `name` and `event_id` are read from what was sent, which may be anything. */
  readonly events: readonly unknown[];
  readonly duplicates: ReadonlySet<number>;
  readonly refusal: string | undefined;
  readonly dropped: number;
}

/** Calls, and the events of all of them: enough for somebody who tries things out. */
const CALLS_MAX = 200;
/** What is remembered lives on while calls come in, and the collector carries it along: with 10,000 a request of 50 cost a sixth more. */
const EVENTS_MAX = 500;
/** Of one request, so that a large one does not keep its memory. */
const EVENTS_SHOWN_MAX = 100;

/** Of those told to another process at a time, which is ten times a second: a sample, where more come in than anybody reads. */
const TOLD_CALLS_MAX = 20;

/** Its events as they are shown: of one app, at least one. */
type ShownRequest = readonly TestEvent[];

export class TestEvents {
  readonly #requests: { readonly app: NodeId; readonly count: number; shown(): ShownRequest }[] = [];
  #events = 0;
  readonly #listeners = new Set<(events: ShownRequest) => void>();
  #untold = 0;

  add(call: SeenRequest): void {
    const kept = call.events.length > EVENTS_SHOWN_MAX ? { ...call, events: call.events.slice(0, EVENTS_SHOWN_MAX) } : call;
    this.#untold = Math.min(TOLD_CALLS_MAX, this.#untold + 1);
    this.#keep(call.app, kept.events.length, () => eventsOf(kept));
  }

  /** What came in since the last time, the newest calls of it, in their order; for `addShown` of another process. */
  takeNew(): ShownRequest[] {
    const requests = this.#requests.slice(Math.max(0, this.#requests.length - this.#untold)).map((call) => call.shown());
    this.#untold = 0;
    return requests;
  }

  addShown(requests: readonly ShownRequest[]): void {
    for (const events of requests) if (events[0] !== undefined) this.#keep(events[0].app, events.length, () => events);
  }

  /** Newest call first. */
  list(app: NodeId): TestEvent[] {
    return this.#requests
      .filter((call) => call.app === app)
      .reverse()
      .flatMap((call) => call.shown());
  }

  /** Tells of each request of the app from now on; the response ends it. */
  follow(app: NodeId, listener: (events: ShownRequest) => void): () => void {
    const own = (events: ShownRequest) => {
      if (events[0]?.app === app) listener(events);
    };
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  #keep(app: NodeId, count: number, shown: () => ShownRequest): void {
    this.#requests.push({ app, count, shown });
    this.#events += count;
    while (this.#requests.length > CALLS_MAX || (this.#events > EVENTS_MAX && this.#requests.length > 1))
      this.#events -= this.#requests.shift()?.count ?? 0;
    if (this.#listeners.size === 0) return;
    const events = shown();
    for (const listener of this.#listeners) listener(events);
  }
}

function eventsOf({ app, received, kind, events, duplicates, refusal, dropped }: SeenRequest): TestEvent[] {
  const call = { channel: "App", app, received_time: received, event: kind, dropped_user_data: dropped } as const;
  const judged = (at: number) =>
    refusal === undefined
      ? ({ verdict: duplicates.has(at) ? "duplicate" : "accepted" } as const)
      : ({ verdict: "refused", reason: refusal } as const);
  if (events.length === 0) return [{ ...call, ...judged(0) }];
  return events.map((event, at) => ({ ...call, ...namesOf(event), ...judged(at) }));
}

/** Of an event as sent or as read. */
function namesOf(event: unknown): { event_name?: string; event_id?: string } {
  if (typeof event !== "object" || event === null) return {};
  const { _eventName, name, event_id } = event as Record<string, unknown>;
  const event_name = _eventName ?? name;
  return { ...(typeof event_name === "string" ? { event_name } : {}), ...(typeof event_id === "string" ? { event_id } : {}) };
}

const views = new WeakMap<World, TestEvents>();

export function testEventsOf(world: World): TestEvents {
  let view = views.get(world);
  if (view === undefined) {
    view = new TestEvents();
    views.set(world, view);
  }
  return view;
}
