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
  /** The path of the request below the path of its world. */
  readonly path: string;
  readonly status: number;
  /**
   * The facts about the request that people look for, e.g. the seconds by which a clock moved. The whole body is never included, because it may
   * contain secrets.
   */
  readonly detail: string;
}

/** Changes of nodes. */
interface ChangesEvent extends Moment {
  readonly kind: "changes";
  /** The numbers of the events since the previous read of the world, which may have caused the changes. */
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
  /** The name of the test, if the test kit has put it into the world's name; otherwise the name of the world. */
  readonly test: string;
  /** The state of the world at the start of the recording, to which the recorded changes apply. */
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

/** The greatest number of events of a page: more events than a person reads, but few enough for a browser to show the page within a second. */
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

/**
 * Returns the reason why a request was refused, as the control API explains it; if there is no explanation, returns the message of the response.
 */
export function reasonOf({ request: { status, reason, response_body } }: RequestEvent): string {
  if (status < 400) return "";
  return reason ?? /"message":"((?:[^"\\]|\\.)*)"/.exec(response_body)?.[1] ?? response_body;
}
