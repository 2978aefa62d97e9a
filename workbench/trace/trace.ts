/** The form of a recorded trace, which a page contains as JSON. */
import type { LoggedDelivery, LoggedRequest } from "#testing/storm/observation";
import type { Change, State } from "./changes.ts";

interface Moment {
  /** The number of the event, in the order of recording. */
  readonly n: number;
  /** Real time since the start of the recording. */
  readonly ms: number;
  /** The name of the world. */
  readonly world: string;
}

export interface RequestEvent extends Moment {
  readonly kind: "request";
  readonly request: LoggedRequest;
}

/** A change that the control API made: a clock, a fault, a person in the app, a node. */
interface ControlEvent extends Moment {
  readonly kind: "control";
  readonly method: string;
  /** The path below the world's. */
  readonly path: string;
  readonly status: number;
  /** The facts that people look for, e.g. the seconds by which a clock moved. A whole body is never included, because it may contain secrets. */
  readonly detail: string;
}

/** Changes of nodes. */
interface ChangesEvent extends Moment {
  readonly kind: "changes";
  /** The numbers of the events after which the world was read. */
  readonly after: readonly number[];
  readonly changes: readonly Change[];
}

interface WebhookEvent extends Moment {
  readonly kind: "webhook";
  readonly delivery: LoggedDelivery;
  /** The number of the request that caused the webhook. */
  readonly cause?: number | undefined;
}

export type TraceEvent = RequestEvent | ControlEvent | ChangesEvent | WebhookEvent;

export interface TracedWorld {
  readonly name: string;
  /** The test that the kit names; if it names none, the name of the world. */
  readonly test: string;
  /** The state at the start, to which the changes apply. */
  readonly first: State;
}

export interface Trace {
  readonly version: 1;
  readonly command: string;
  readonly exitCode: number;
  readonly worlds: readonly TracedWorld[];
  readonly events: readonly TraceEvent[];
  /** The number of events that were left out, because a page holds at most `EVENTS_MAX`. */
  readonly left_out: number;
}

/** The greatest number of events of a page: more than a person reads, and less than a browser needs a second for. */
export const EVENTS_MAX = 20_000;

/** Whether something went wrong: a refused request, a webhook that was not delivered, a refused control request. */
export function isFailure(event: TraceEvent): boolean {
  switch (event.kind) {
    case "request":
      return event.request.status >= 400;
    case "control":
      return event.status >= 400;
    case "webhook":
      return event.delivery.status === "failed" || event.delivery.attempts.some(({ error, status = 0 }) => error !== undefined || status >= 300);
    case "changes":
      return false;
  }
}

/** The reason why a request was refused, in the words of the control API; without one, the message of the response. */
export function reasonOf({ request: { status, reason, response_body } }: RequestEvent): string {
  if (status < 400) return "";
  return reason ?? /"message":"((?:[^"\\]|\\.)*)"/.exec(response_body)?.[1] ?? response_body;
}
