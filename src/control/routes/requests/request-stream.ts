/** The requests of a world as server-sent events (WHATWG HTML, 9.2). No timer runs while nobody reads. */
import { type Static, Type } from "typebox";
import { eventStream, lookRepeatedly, type SendEvent } from "#control-contract/event-stream";
import type { ControlRequest } from "#control-contract/route";
import type { RequestEntry } from "#graph/worlds/request-log";
import { ALERTS_EVERY_MS, readAlerts } from "../alerts/alerts.ts";
import { isAsked, lineShown, type RequestFilter, requestLine, sinceMsOf } from "./request-schemas.ts";

/** The shortest interval between two events; nobody would notice a shorter one. */
const EVENT_EVERY_MS = 100;
/** The number of lines in an event: 200 lines a second are more than anybody can read. */
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

/** Calls `use` with the world as it is now, because the stream goes on when the world is reset or restored. Undefined if the world was deleted. */
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
  /** The id of the last event that the reader has. */
  readonly after?: number | undefined;
  /** Whether alerts are in the same stream, because a browser has few connections (D-271). */
  readonly hasAlerts?: boolean;
}

/** The stream of requests. Throws 400 for a filter that cannot be read. */
export function followRequests(request: ControlRequest, filter: RequestFilter, { after, hasAlerts = false }: Following = {}): Response {
  const log = request.world.requests;
  const sinceMs = sinceMsOf(filter);
  // An id beyond the end is from an earlier run of the server, so the stream begins with the next request.
  let next = after === undefined || after > log.count ? log.count : after;
  const linesSince = (): Static<typeof requestsEvent> => {
    const entries = log.from(next);
    const asked = entries.filter((entry) => isAsked(entry, filter, sinceMs));
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
    // This is a timer, so that the requests of one interval are one event.
    const timer = setInterval(() => {
      if (log.count === next) return;
      const lines = linesSince();
      send("requests", lines, next);
    }, EVENT_EVERY_MS);
    const look = () => inWorldNow(request, (world): Promise<object> => readAlerts({ ...request, world }));
    // If a look at the alerts fails, it is repeated, and requests are still sent.
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
