/**
 * Sends the graph requests of a world as server-sent events (WHATWG HTML, 9.2). The timer of the stream runs only while a client reads the stream.
 */
import { type Static, Type } from "typebox";
import { eventStream, lookRepeatedly, type SendEvent } from "#control-contract/event-stream";
import type { ControlRequest } from "#control-contract/route";
import type { RequestEntry } from "#graph/worlds/request-log";
import { ALERTS_EVERY_MS, readAlerts } from "../alerts/alerts.ts";
import { isAsked, lineShown, type RequestFilter, requestLine } from "./request-schemas.ts";

/** The shortest interval between two events. People would not notice it if the events came at a shorter interval. */
const EVENT_EVERY_MS = 100;
/**
 * The greatest number of requests in an event, each of which is one line for the reader. With ten events a second, the stream has up to 200
 * lines a second, more than anybody can read.
 */
const LINES_MAX = 20;

export const requestsEvent = Type.Object(
  {
    data: Type.Array(requestLine, { description: "the requests that match the filter and came after the last event, the oldest first" }),
    seen: Type.Integer({ description: "the number of all requests since the last event, whatever the filter" }),
    refused: Type.Integer({ description: "the number of these requests with a status from 400 to 499 that are still stored" }),
    failed: Type.Integer({ description: "the number of these requests with a status of 500 or more that are still stored" }),
    skipped: Type.Integer({
      description: "the number of matching requests that are left out, because there are too many or they are no longer stored",
    }),
  },
  {
    description: "the data of an event `requests`; an event `alerts`, if requested, has the response of `/v1/worlds/{w}/alerts`",
  },
);

const countOf = (entries: readonly RequestEntry[], statusClass: number): number =>
  entries.filter(({ status }) => Math.floor(status / 100) === statusClass).length;

/**
 * Calls `use` with the current world, because a reset or a restore replaces the world while the stream goes on. Returns
 * undefined if the world was deleted.
 */
async function inWorldNow<T>(request: ControlRequest, use: (world: ControlRequest["world"]) => Promise<T>): Promise<T | undefined> {
  const held = await request.deps.worlds.hold(request.path.w ?? request.world.name);
  if (held === undefined) return undefined;
  try {
    return await use(held.world);
  } finally {
    held.leave();
  }
}

interface Following {
  /** The id of the last event that the reader got. */
  readonly after?: number | undefined;
  /** Whether the stream also sends alerts. A browser needs requests and alerts in one stream, because it opens only a few connections (D-271). */
  readonly hasAlerts?: boolean;
}

/** Responds with the stream of requests. */
export function followRequests(request: ControlRequest, filter: RequestFilter, { after, hasAlerts = false }: Following = {}): Response {
  const log = request.world.requests;
  // If the id is greater than the number of requests, it is from an earlier run of the server, so the stream begins with the next request.
  let next = after === undefined || after > log.count ? log.count : after;
  const linesSince = (): Static<typeof requestsEvent> => {
    const entries = log.from(next);
    const asked = entries.filter((entry) => isAsked(entry, filter));
    const seen = log.count - next;
    next = log.count;
    return {
      data: asked.slice(-LINES_MAX).map((entry) => lineShown(entry, request)),
      seen,
      refused: countOf(entries, 4),
      failed: countOf(entries, 5),
      skipped: Math.max(0, asked.length - LINES_MAX) + seen - entries.length,
    };
  };
  const begin = (send: SendEvent): (() => void) => {
    // A timer is used, so that the requests of an interval are sent together in one event.
    const timer = setInterval(() => {
      if (log.count === next) return;
      const lines = linesSince();
      send("requests", lines, next);
    }, EVENT_EVERY_MS);
    const look = () => inWorldNow(request, (world): Promise<object> => readAlerts({ ...request, world }));
    // If the alerts cannot be read, they are read again later, and the stream goes on sending requests.
    const endAlerts = hasAlerts
      ? lookRepeatedly(
          { everyMs: ALERTS_EVERY_MS, look },
          (seen) => send("alerts", seen),
          () => {},
        )
      : () => {};
    return () => {
      endAlerts();
      clearInterval(timer);
    };
  };
  return eventStream(request, begin, next);
}
