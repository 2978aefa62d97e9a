/**
 * I1-35: the view of test events contains the latest reported app events, each with a verdict. The view of test events is stored only in memory.
 * Callers of the control API can list the events of the view, or receive new events live. With `--workers`, each process sends the events that it
 * receives to the process that serves the control API.
 */
import { JsonNumber } from "#graph/pipeline/request";
import { erasureFact } from "#graph/worlds/erasure/erasure";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { amountText } from "./amounts.ts";
import type { ReportedEvent } from "./parse-events.ts";

/**
 * The possible verdicts on an event. An `invalid` event is stored like an accepted event, but it violates the schema that its app has set for the
 * event's name (D-363).
 */
export const verdicts = ["accepted", "invalid", "duplicate", "refused"] as const;
type Verdict = (typeof verdicts)[number];

export interface TestEvent {
  readonly channel: "App";
  readonly app: NodeId;
  /** The time at which the request arrived, in Unix seconds. */
  readonly received_time: number;
  readonly event: string;
  /** The name of a custom event, as the client sent it. Installs and links have no `event_name`. */
  readonly event_name?: string;
  readonly event_id?: string;
  /** The value of the event as a decimal. The value of a refused event is the text that the client sent. */
  readonly value_to_sum?: string;
  /** The parameters of a custom event, as the client sent them. Installs and app links have no `parameters`. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly verdict: Verdict;
  /** The error message if the request was refused, or a text that says how an invalid event violates its schema. */
  readonly reason?: string;
  /** The number of values that were dropped from the user data (D-73). */
  readonly dropped_user_data: number;
}

/** A request in the view of test events. `TestEvent`s are made only when somebody reads the view, because most requests are never looked at. */
export interface SeenRequest {
  readonly app: NodeId;
  readonly received: number;
  readonly kind: string;
  /**
   * The valid events of the request. If the request was refused, `events` are the items of the list that the client sent, which can be any values.
   */
  readonly events: readonly unknown[];
  readonly duplicates: ReadonlySet<number>;
  /** Texts that say how events violate their schemas, by the index of each event. */
  readonly violations?: ReadonlyMap<number, string>;
  readonly refusal: string | undefined;
  readonly dropped: number;
}

/** The greatest number of requests in the view. 200 requests are enough to try out an integration. */
const REQUESTS_MAX = 200;
/**
 * The greatest number of events in the view. The garbage collector copies the events of the view: if the view had 10,000 events, the server would
 * need a sixth more time for a request of 50 events.
 */
export const TEST_EVENTS_MAX = 500;
/** The greatest number of events of one request in the view, so that a large request does not stay in memory as a whole. */
export const EVENTS_SHOWN_MAX = 100;

/**
 * The greatest number of requests that a process sends to another process at a time. A process sends requests ten times a second. If more requests
 * have arrived, the process sends only the newest requests, because a person could not read all requests.
 */
const SENT_REQUESTS_MAX = 20;

/** The events of one request in the view. This list has at least one event, and all its events belong to the same app. */
type ShownRequest = readonly TestEvent[];

export class TestEvents {
  readonly #requests: { readonly app: NodeId; readonly count: number; shown(): ShownRequest }[] = [];
  #events = 0;
  #waiting: PromiseWithResolvers<void> | undefined;
  readonly #listeners = new Set<(events: ShownRequest) => void>();
  /** The number of requests that `takeNew` has not returned yet. */
  #unsent = 0;

  add(request: SeenRequest): void {
    const kept = request.events.length > EVENTS_SHOWN_MAX ? { ...request, events: request.events.slice(0, EVENTS_SHOWN_MAX) } : request;
    this.#unsent = Math.min(SENT_REQUESTS_MAX, this.#unsent + 1);
    this.#keep(request.app, kept.events.length, () => eventsOf(kept));
  }

  clear(): void {
    this.#requests.splice(0);
    this.#events = 0;
    this.#unsent = 0;
  }

  /**
   * Returns the newest requests that were added since the last call, oldest first. The caller sends the returned requests to another process, which
   * passes the requests to `addShown`.
   */
  takeNew(): ShownRequest[] {
    const requests = this.#requests.slice(Math.max(0, this.#requests.length - this.#unsent)).map((request) => request.shown());
    this.#unsent = 0;
    return requests;
  }

  addShown(requests: readonly ShownRequest[]): void {
    for (const events of requests) if (events[0] !== undefined) this.#keep(events[0].app, events.length, () => events);
  }

  /** Returns the app's events in the view, the newest request first. */
  list(app: NodeId): TestEvent[] {
    return this.#requests
      .filter((request) => request.app === app)
      .reverse()
      .flatMap((request) => request.shown());
  }

  /** Returns a promise that resolves when the next request of any app is added. */
  next(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** Calls `listener` for each new request of the app, until the returned function is called. */
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
    while (this.#requests.length > REQUESTS_MAX || (this.#events > TEST_EVENTS_MAX && this.#requests.length > 1))
      this.#events -= this.#requests.shift()?.count ?? 0;
    this.#waiting?.resolve();
    this.#waiting = undefined;
    if (this.#listeners.size === 0) return;
    const events = shown();
    for (const listener of this.#listeners) listener(events);
  }
}

function eventsOf({ app, received, kind, events, duplicates, violations, refusal, dropped }: SeenRequest): TestEvent[] {
  const shared = { channel: "App", app, received_time: received, event: kind, dropped_user_data: dropped } as const;
  const judged = (at: number): Pick<TestEvent, "verdict" | "reason"> => {
    if (refusal !== undefined) return { verdict: "refused", reason: refusal };
    if (duplicates.has(at)) return { verdict: "duplicate" };
    const violation = violations?.get(at);
    return violation === undefined ? { verdict: "accepted" } : { verdict: "invalid", reason: violation };
  };
  if (events.length === 0) return [{ ...shared, ...judged(0) }];
  return events.map((event, at) => ({ ...shared, ...factsOf(event), ...judged(at) }));
}

type Facts = Pick<TestEvent, "event_name" | "event_id" | "value_to_sum" | "parameters">;

/** Returns the fields of an event that the view shows. `event` is a valid event, or an item of the list in a refused request. */
function factsOf(event: unknown): Facts {
  if (typeof event !== "object" || event === null) return {};
  return isReported(event) ? reportedFacts(event) : sentFacts(event as Record<string, unknown>);
}

const isReported = (event: object): event is ReportedEvent =>
  "currency" in event && "time" in event && typeof (event as ReportedEvent).parameters === "string";

const reportedFacts = ({ name, event_id, value, parameters }: ReportedEvent): Facts => ({
  event_name: name,
  ...(event_id === undefined ? {} : { event_id }),
  ...(value === undefined ? {} : { value_to_sum: amountText(value) }),
  parameters: parameters === "" ? {} : JSON.parse(parameters),
});

function sentFacts({ _eventName, event_id, _valueToSum, _logTime, advertiser_tracking_enabled: _, ...parameters }: Record<string, unknown>): Facts {
  return {
    ...(typeof _eventName === "string" ? { event_name: _eventName } : {}),
    ...(typeof event_id === "string" ? { event_id } : {}),
    ...(_valueToSum === undefined ? {} : { value_to_sum: String(_valueToSum instanceof JsonNumber ? _valueToSum.text : _valueToSum) }),
    parameters,
  };
}

const views = new WeakMap<World, TestEvents>();

export function testEventsOf(world: World): TestEvents {
  let view = views.get(world);
  if (view === undefined) {
    const made = new TestEvents();
    view = made;
    views.set(world, made);
    // D-172: an erasure of a person clears the view, because the view may contain data of that person.
    world.database.onInvalidate((kind) => {
      if (kind === erasureFact) made.clear();
    });
  }
  return view;
}
