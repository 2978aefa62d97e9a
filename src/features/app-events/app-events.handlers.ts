import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import type { Parameters } from "#graph/pipeline/request";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import { type reportAppEvents, responseRow } from "./app-events.contract.ts";
import { ATTRIBUTED_AT_ONCE, EVENTS_PER_REQUEST_MAX } from "./app-events.limits.ts";
import { attributionOf } from "./attribution/attribution.handlers.ts";
import type { Outcome } from "./intake/batch.ts";
import { violationsOf } from "./intake/event-schemas.ts";
import { intakeOf } from "./intake/intake.ts";
import { type Report, readEvents } from "./intake/parse-events.ts";
import { type ReportRequest, readDevice, readEventList } from "./intake/parse-request.ts";
import { readUserData } from "./intake/parse-user-data.ts";
import { testEventsOf } from "./intake/test-view.ts";

/** I1-27, D-71: handles a request that reports events. If an event is a duplicate, the response is the same as for the first report of the event. */
export async function handleReport(request: ReportRequest): Promise<Static<typeof reportAppEvents.returns>> {
  const { world, params, node } = request;
  const intake = intakeOf(world);
  intake.requireCapacity(node.id);
  let report: Report;
  let outcome: Outcome;
  try {
    report = readReport(request);
    outcome = await intake.submit(report);
    if ("refusal" in outcome) throw outcome.refusal;
  } catch (error) {
    showRefused(request, error);
    throw error;
  }
  showAccepted(request, report, outcome.duplicates);
  if (params.consider_views === undefined) return { success: true };
  // D-74: with `consider_views`, the response also lists events of the device that are attributed to an ad.
  const { advertiser_id, attribution } = report.device;
  const query = { advertiser_id, attribution, event: params.event, considersViews: params.consider_views };
  const { rows } = await attributionOf(world, node.id, query, { limit: ATTRIBUTED_AT_ONCE });
  return { success: true, data: rows.map(responseRow) };
}

function readReport(request: ReportRequest): Report {
  const { node, params, caller, world } = request;
  const received = unixSeconds(world.clock);
  const device = readDevice(request);
  const report = { app: node.id, kind: params.event, device, received, event_name_limit: caller.app.event_name_limit };
  if (params.event !== "CUSTOM_APP_EVENTS") return { ...report, events: [], list: "custom_events" };
  const { parameter: list, events } = readEventList(request);
  if (events.length > EVENTS_PER_REQUEST_MAX) throw invalidParameter(list, `must contain at most ${EVENTS_PER_REQUEST_MAX} events`);
  const { advertiser_tracking_enabled } = device;
  const { automatic_event_logging } = caller.app;
  const { profile } = world;
  return { ...report, list, events: readEvents(events, { list, received, advertiser_tracking_enabled, automatic_event_logging, profile }) };
}

function showAccepted({ world, node, params, caller }: ReportRequest, report: Report, duplicates: ReadonlySet<number>): void {
  const { received, events, device } = report;
  const dropped = device.user_data.dropped;
  const violations = violationsOf(caller.app, events);
  testEventsOf(world).add({ app: node.id, received, kind: params.event, events, duplicates, violations, refusal: undefined, dropped });
}

/**
 * Adds a refused request to the view of test events. The view of test events shows the events of a refused request if the list of events can be
 * parsed.
 */
export function showRefused(request: OperationRequest<Parameters>, error: unknown): void {
  const { world, node, params } = request;
  const refusal = error instanceof Error ? error.message : String(error);
  const event: unknown = params.event;
  // If the client sends `event[a]=x`, the parameter `event` is an object, and the view of test events shows the object as JSON.
  const kind = typeof event === "object" ? JSON.stringify(event) : String(event);
  testEventsOf(world).add({
    app: node.id,
    received: unixSeconds(world.clock),
    kind,
    events: sentEvents(request),
    duplicates: new Set(),
    refusal,
    dropped: droppedOf(params.ud),
  });
}

function sentEvents(request: OperationRequest<Parameters>): readonly unknown[] {
  if (request.params.event !== "CUSTOM_APP_EVENTS") return [];
  try {
    return readEventList(request).events;
  } catch {
    return [];
  }
}

const droppedOf = (ud: unknown): number => (typeof ud === "object" && ud !== null ? readUserData(ud as Record<string, unknown>).dropped : 0);
