/** The requests of a world as server-sent events (WHATWG HTML, 9.2). Nothing runs for it while nobody reads. */
import { type Static, Type } from "typebox";
import type { RequestLog } from "#graph/worlds/request-log";
import { isAsked, type RequestFilter, sinceMsOf } from "./request-filter.ts";
import { lineShown, requestLine } from "./request-schemas.ts";

export const EVENT_STREAM = "text/event-stream";

/** Faster than that nobody sees a difference. */
const EVENT_EVERY_MS = 100;
/** 200 lines a second: more than eyes can follow. */
const LINES_MAX = 20;
/** A comment keeps the connection open; common proxies close it after 60 s without a byte. */
const HEARTBEAT_EVERY = 250;

export const requestsEvent = Type.Object(
  {
    data: Type.Array(requestLine, { description: "the oldest first" }),
    seen: Type.Integer({ description: "requests since the event before, whatever the filter" }),
    skipped: Type.Integer({ description: "that match the filter and are left out, since they are too many to follow or no longer kept" }),
  },
  { description: "the data of one event" },
);

/** `after`: the id of the last event that the reader has. Throws 400 for a filter that cannot be read. */
export function followRequests(log: RequestLog, filter: RequestFilter, after: number | undefined): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const sinceMs = sinceMsOf(filter);
  // An id beyond the end is that of a server before this one.
  let next = after === undefined || after > log.count ? log.count : after;
  const event = (): string => {
    const entries = log.from(next);
    const asked = entries.filter((entry) => isAsked(entry, filter, sinceMs));
    const seen = log.count - next;
    const lines: Static<typeof requestsEvent> = {
      data: asked.slice(-LINES_MAX).map(lineShown),
      seen,
      skipped: Math.max(0, asked.length - LINES_MAX) + seen - entries.length,
    };
    next = log.count;
    return `event: requests\nid: ${next}\ndata: ${JSON.stringify(lines)}\n\n`;
  };
  let stop = (): void => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const unwatch = log.watch();
      let idle = 0;
      // A timer, because what comes in between comes in one event.
      const timer = setInterval(() => {
        if (log.count !== next) controller.enqueue(encoder.encode(event()));
        else if (++idle % HEARTBEAT_EVERY === 0) controller.enqueue(encoder.encode(": still there\n\n"));
      }, EVENT_EVERY_MS);
      stop = () => {
        clearInterval(timer);
        unwatch();
      };
      controller.enqueue(encoder.encode(`: listening\nid: ${next}\n\n`));
    },
    cancel: () => stop(),
  });
}
