/** Prints a trace as text. */
import { isFailure, reasonOf, type Trace, type TraceEvent } from "./trace.ts";

interface TextOptions {
  /** Shows only events that went wrong. */
  readonly failed: boolean;
  /** Shows only events whose JSON contains this text. */
  readonly search: string | undefined;
}

export function traceText(trace: Trace, { failed, search }: TextOptions): string {
  const words = search?.toLowerCase();
  const events = trace.events.filter(
    (event) => (!failed || isFailure(event)) && (words === undefined || JSON.stringify(event).toLowerCase().includes(words)),
  );
  const tests = new Map(trace.worlds.map(({ name, test }) => [name, test]));
  const lines = events.flatMap((event, at) => [
    ...(event.world === events[at - 1]?.world ? [] : [tests.get(event.world) ?? event.world]),
    `  ${(event.ms / 1_000).toFixed(3).padStart(8)}  ${lineOf(event)}`,
    ...detailsOf(event).map((text) => `            ${text}`),
  ]);
  const more = trace.left_out === 0 ? "" : `, ${trace.left_out} left out`;
  return [...lines, `${events.length} of ${trace.events.length} events${more}; ${trace.command} ended with ${trace.exitCode}`].join("\n");
}

function lineOf(event: TraceEvent): string {
  switch (event.kind) {
    case "request": {
      const { operation, method, path, query, status } = event.request;
      return `${operation}: ${method} ${path}${query === "" ? "" : `?${query}`} → ${status}`;
    }
    case "control":
      return `control: ${event.method} ${event.path} → ${event.status}${event.detail === "" ? "" : ` (${event.detail})`}`;
    case "webhook": {
      const { field, object, entity, status, attempts } = event.delivery;
      return `webhook: ${field} of ${object} ${entity}: ${status} after ${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}`;
    }
    case "changes":
      return `changes: ${event.changes.map(({ key, id }) => (id === undefined ? key : `${key} ${id}`)).join(", ")}`;
  }
}

function detailsOf(event: TraceEvent): readonly string[] {
  if (event.kind === "request") return [reasonOf(event)].filter((text) => text !== "");
  if (event.kind !== "webhook" || !isFailure(event)) return [];
  return event.delivery.attempts.map(({ status, error }) => error ?? `the receiver returned ${status}`);
}
