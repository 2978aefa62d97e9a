/**
 * The control routes of app events show and export the log, list event names and daily sums, show test events, and set how long raw events are
 * stored.
 */
import { type Static, Type } from "typebox";
import { badRequest, conflict, notFound } from "#control-contract/errors";
import { EVENT_STREAM, eventStream, wantsEvents } from "#control-contract/event-stream";
import { countedWithin, expectEntries, met, unmet } from "#control-contract/expectation";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { NDJSON, respondWithLines } from "#control-contract/ndjson";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldTime } from "#graph/worlds/file/schema-words";
import type { World } from "#graph/worlds/world";
import { isNodeId, type NodeId } from "#kernel/ids";
import { eventKinds } from "./app-events.contract.ts";
import { readRetentionDays, saveRetentionDays } from "./app-events.jobs.ts";
import { DAY_SECONDS, LOG_TIME_MAX } from "./app-events.limits.ts";
import { amountText } from "./intake/amounts.ts";
import { countActiveNames, findNames, listNames, setNameActive } from "./intake/intake.store.ts";
import { readLoggedDevice } from "./intake/parse-request.ts";
import { TEST_EVENTS_MAX, type TestEvent, testEventsOf, verdicts } from "./intake/test-view.ts";
import { kindName } from "./log/devices.store.ts";
import { ALL_DAYS, type EventRow, type LogFilter, listEvents, readSums } from "./log/log.store.ts";
import { isStandardEvent } from "./standard-events.contract.ts";

export const APP = "/v1/worlds/{w}/app-events/{app}";

export const time = { ...worldTime, description: "Unix seconds or ISO 8601" };
const flag = Type.Union([Type.Literal(0), Type.Literal(1)]);
export const seconds = Type.Integer({ description: "Unix seconds" });
const decimal = Type.String({ description: "decimal" });
export const sums = Type.Record(Type.String(), decimal, { description: "sums by currency; the key is empty for values without a currency" });
export const event = Type.String({ description: "MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK" });

export const logged = Type.Object({
  id: Type.String(),
  event,
  event_name: Type.Optional(Type.String({ description: "the name of the custom event" })),
  event_id: Type.Optional(Type.String()),
  event_time: seconds,
  received_time: seconds,
  value_to_sum: Type.Optional(decimal),
  parameters: Type.Record(Type.String(), Type.Unknown()),
  advertiser_id: Type.Optional(Type.String()),
  attribution: Type.Optional(Type.String()),
  ip: Type.Optional(Type.String()),
  extinfo: Type.Optional(Type.Array(Type.String())),
  application_tracking_enabled: flag,
  advertiser_tracking_enabled: flag,
  ud: Type.Record(Type.String(), Type.String()),
  dropped_user_data: Type.Integer({ description: "the number of values of user data that were dropped because they were not hashed" }),
});

const verdict = Type.Unsafe<TestEvent["verdict"]>({
  enum: [...verdicts],
  description: "the verdict on the event; invalid: Plaza stored the event, but the event breaks its schema in the app's event_schemas",
});

const testEvent = Type.Object({
  channel: Type.Literal("App"),
  app: Type.String(),
  received_time: seconds,
  event,
  event_name: Type.Optional(Type.String()),
  event_id: Type.Optional(Type.String()),
  value_to_sum: Type.Optional(Type.String({ description: "a decimal number; for a refused event, the text that was sent" })),
  parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "the parameters of a custom event, as they were sent" })),
  verdict,
  reason: Type.Optional(Type.String({ description: "the error of the refused request, or how an invalid event breaks its schema" })),
  dropped_user_data: Type.Integer(),
});

const eventName = Type.Object({
  name: Type.String(),
  standard: Type.Boolean(),
  active: Type.Boolean(),
  count: Type.Integer(),
  sums,
  first_time: seconds,
  last_time: seconds,
});

const daySum = Type.Object({
  day: Type.String({ format: "date", description: "UTC" }),
  event,
  event_name: Type.Optional(Type.String()),
  currency: Type.String({ description: "the currency of the sum; empty for values without a currency" }),
  count: Type.Integer(),
  sum: Type.Optional(decimal),
});

const logFilter = {
  name: Type.Optional(Type.String({ description: "the name of the events" })),
  since: Type.Optional({ ...time, description: "only events that arrived at this time or later: Unix seconds or ISO 8601" }),
};
const logQuery = Type.Object({ ...logFilter, ...pageQuery.properties });
const exportQuery = Type.Object(logFilter);
export const spanQuery = Type.Object({ since: Type.Optional(time), until: Type.Optional(time) });

/** Returns the id of the app in the request's path. Throws 404 if the world has no such app. */
export async function appOf({ world, path }: ControlRequest): Promise<NodeId> {
  const id = path.app ?? "";
  if (!isNodeId(id) || (await world.findNode(id))?.type !== "app") throw notFound(`app ${id}`);
  return id;
}

/** Converts the name that an event has in the log to the fields `event` and `event_name`. Only a custom event has an `event_name`. */
function named(name: string): { event: string; event_name?: string } {
  const kind = eventKinds.find((one) => kindName(one) === name);
  return kind === undefined ? { event: "CUSTOM_APP_EVENTS", event_name: name } : { event: kind };
}

/** EVT-2: converts a row of the log to the form in which the control API returns events. */
export function logEntry(row: EventRow): Static<typeof logged> {
  const { ud = {}, ...device } = readLoggedDevice(row.device ?? "{}");
  return {
    id: `${row.request}-${row.position}`,
    ...named(row.name),
    ...(row.event_id === null ? {} : { event_id: row.event_id }),
    event_time: row.time,
    received_time: row.received,
    ...(row.value === null ? {} : { value_to_sum: amountText(BigInt(row.value)) }),
    parameters: row.parameters === "" ? {} : JSON.parse(row.parameters),
    ...device,
    // The `advertiser_tracking_enabled` of an event overrides the value in the event's request (D-76).
    advertiser_tracking_enabled: row.tracking === 1 ? 1 : 0,
    ud: ud as Record<string, string>,
  };
}

/** The number of log rows that one query of an export reads. */
const EXPORT_ROWS = 1_000;

/**
 * Yields an app's log as JSON lines, newest event first. Each chunk of the export ends with a complete line. The export leaves out events that arrive
 * while the export runs.
 */
async function* exportLines(world: World, app: NodeId, filter: LogFilter): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let after: readonly string[] | undefined;
  for (;;) {
    const { rows, hasNext, lastKey } = await listEvents(world.database.reader, app, filter, { limit: EXPORT_ROWS, after });
    if (rows.length > 0) yield encoder.encode(`${rows.map((row) => JSON.stringify(logEntry(row))).join("\n")}\n`);
    if (!hasNext) return;
    after = lastKey;
  }
}

export async function listEventNames(world: World, app: NodeId): Promise<Static<typeof eventName>[]> {
  const { reader } = world.database;
  const totals = Map.groupBy(await readSums(reader, app, ALL_DAYS, ALL_DAYS), ({ name }) => name);
  return (await listNames(reader, app)).map(({ name, active }) => {
    const parts = totals.get(name) ?? [];
    return {
      name,
      standard: isStandardEvent(name),
      active: active === 1,
      count: parts.reduce((sum, { count }) => sum + count, 0),
      sums: Object.fromEntries(parts.filter(({ valued }) => valued > 0).map(({ currency, sum }) => [currency, amountText(sum)])),
      // An event name has no sums if all events of the request that added the name were duplicates.
      first_time: parts.reduce((first, { first_time }) => Math.min(first, first_time), parts[0]?.first_time ?? 0),
      last_time: parts.reduce((last, { last_time }) => Math.max(last, last_time), 0),
    };
  });
}

/** Returns an app's daily sums from the day of `since` to the day of `until` (Unix seconds), including both days. */
export async function listDaySums(world: World, app: NodeId, since: number, until: number): Promise<Static<typeof daySum>[]> {
  const days = [since, until].map((time) => Math.floor(time / DAY_SECONDS)) as [number, number];
  return (await readSums(world.database.reader, app, ...days)).map(({ day, name, currency, count, valued, sum }) => ({
    day: new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10),
    ...named(name),
    currency,
    count,
    ...(valued > 0 ? { sum: amountText(sum) } : {}),
  }));
}

const filterOf = ({ name, since }: Static<typeof exportQuery>) => ({ name, since });

async function listAppEvents(request: ControlRequest<Static<typeof logQuery>>): Promise<unknown> {
  const app = await appOf(request);
  return respondWithList(
    request,
    `app events ${app}`,
    (page, world) => listEvents(world.database.reader, app, filterOf(request.query), page),
    logEntry,
  );
}

async function exportAppEvents(request: ControlRequest<Static<typeof exportQuery>>): Promise<Response> {
  const app = await appOf(request);
  return respondWithLines(exportLines(request.world, app, filterOf(request.query)));
}

/**
 * LIM-3: deactivates an event name. A deactivated name does not count against the app's limit of event names. Returns false if the app has no such
 * name.
 */
export const deactivateEventName = (world: World, app: NodeId, name: string): Promise<boolean> =>
  world.database.write(async (tx) => {
    await tx.lock("app events", app);
    return setNameActive(tx, app, name, false);
  });

/**
 * D-291: activates an event name, which then counts against the app's limit of event names. Returns false if the app has no such name. Throws 409 if
 * the app has already reached the limit.
 */
const activateEventName = (world: World, app: NodeId, name: string): Promise<boolean> =>
  world.database.write(async (tx) => {
    await tx.lock("app events", app);
    if ((await findNames(tx, app, [name])).get(name) !== false) return setNameActive(tx, app, name, true);
    const { event_name_limit = 0 } = (await world.ports.get("app").findFacts(tx, app)) ?? {};
    if ((await countActiveNames(tx, app)) >= event_name_limit)
      throw conflict(`app ${app} has ${event_name_limit} active event names, which is its limit: deactivate another name first`, "name");
    return setNameActive(tx, app, name, true);
  });

const nameRoute = (state: "activate" | "deactivate", set: typeof activateEventName, summary: string): ControlRoute =>
  route(`POST ${APP}/names/{name}/${state}`, `${state}EventName`, {
    summary,
    errors: state === "activate" ? [409] : [],
    async handle(request) {
      const app = await appOf(request);
      const name = request.path.name ?? "";
      if (!(await set(request.world, app, name))) throw notFound(`event name ${name} of app ${app}`);
    },
  });

async function readTestEvents(request: ControlRequest): Promise<unknown> {
  const app = await appOf(request);
  if (!wantsEvents(request)) return { data: testEventsOf(request.world).list(app), paging: {} };
  return eventStream(request, (send) =>
    testEventsOf(request.world).follow(app, (events) => {
      for (const one of events) send(one.verdict, one);
    }),
  );
}

const ANY_VERDICT = "any";

const expectation = Type.Object(
  {
    event: Type.Optional(event),
    event_name: Type.Optional(Type.String({ description: "the name of the custom event" })),
    verdict: Type.Unsafe<TestEvent["verdict"] | typeof ANY_VERDICT>({
      ...{ enum: [...verdicts, ANY_VERDICT], default: "accepted", description: "the verdict on the event" },
    }),
    match: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: "expected values for other keys of the event; `parameters` is compared by key",
    }),
    ...countedWithin("events", TEST_EVENTS_MAX),
  },
  { additionalProperties: false },
);

async function expectAppEvents(request: ControlRequest<unknown, Static<typeof expectation>>): Promise<unknown> {
  const app = await appOf(request);
  const view = testEventsOf(request.world);
  const { verdict: wanted, match, count, within_ms, ...kind } = request.body;
  const entries = {
    what: "event",
    read: async () => view.list(app),
    next: () => view.next(),
    show: (one: TestEvent) => one,
  };
  const expected = { kind, match: wanted === ANY_VERDICT ? match : { verdict: wanted, ...match } };
  return expectEntries(entries, expected, { count, within_ms }, request.deps.realTime);
}

interface Span {
  readonly since: number;
  readonly until: number;
}

/**
 * Returns the time span of a query, in Unix seconds. Without `since`, the span begins in 1970; without `until`, the span ends at `end`. Throws 400 if
 * `since` is after `until`.
 */
export function spanOf(query: Static<typeof spanQuery>, end: number): Span {
  const { since = 0, until = end } = query;
  if (since > until) throw badRequest("since must not be after until", "since");
  return { since, until };
}

async function readDaySums(request: ControlRequest<Static<typeof spanQuery>>): Promise<unknown> {
  const app = await appOf(request);
  // D-292: events may have times in the future. The list of names counts events with future times, so the daily sums include them, too.
  const { since, until } = spanOf(request.query, LOG_TIME_MAX);
  return { data: await listDaySums(request.world, app, since, until), paging: {} };
}

const retentionDays = Type.Object(
  { days: Type.Integer({ minimum: 0, description: "the number of days for which raw events are kept after their arrival; 0: forever" }) },
  { additionalProperties: false },
);

async function setRetention({ world, body }: ControlRequest<unknown, Static<typeof retentionDays>>): Promise<unknown> {
  await saveRetentionDays(world, body.days);
  return { days: body.days };
}

export const appEventControlRoutes: readonly ControlRoute[] = [
  route(`GET ${APP}`, "listAppEvents", {
    summary: "Lists an app's events, the newest first. With a filter, a page can be short although there is a next page",
    query: logQuery,
    response: listOf(logged),
    handle: listAppEvents,
  }),
  route(`GET ${APP}/export`, "exportAppEvents", {
    summary: "Exports an app's events as JSON lines, the newest first",
    query: exportQuery,
    response: logged,
    streams: [NDJSON],
    isStreamAlone: true,
    handle: exportAppEvents,
  }),
  route(`GET ${APP}/names`, "listEventNames", {
    summary: "Lists the distinct event names of an app, with counts and exact sums",
    response: listOf(eventName),
    handle: async (request) => ({ data: await listEventNames(request.world, await appOf(request)), paging: {} }),
  }),
  nameRoute(
    "activate",
    activateEventName,
    "Activates an event name again: the name counts towards the app's limit, and its events are accepted from now on",
  ),
  nameRoute(
    "deactivate",
    deactivateEventName,
    "Deactivates an event name: the name no longer counts towards the app's limit, and its events are refused from now on",
  ),
  route(`GET ${APP}/sums`, "listEventSums", {
    summary: "Lists counts and exact sums of an app's events by day, name and currency (default: of all days)",
    query: spanQuery,
    response: listOf(daySum),
    handle: readDaySums,
  }),
  route(`GET ${APP}/test-events`, "readTestEvents", {
    summary: "Lists the latest events of the App channel, each with a verdict; with Accept: text/event-stream, sends each new event",
    response: listOf(testEvent),
    streams: [EVENT_STREAM],
    handle: readTestEvents,
  }),
  route(`POST ${APP}/expect`, "expectAppEvents", {
    summary: `Waits until the last ${TEST_EVENTS_MAX} events of the App channel contain the expected events. If they do not come in time, the response is 422, with the events that came and the differences between the expected and the most similar event`,
    body: expectation,
    response: met(testEvent),
    errors: [422],
    unmet: unmet("event", testEvent),
    handle: expectAppEvents,
  }),
  route("GET /v1/worlds/{w}/app-events-retention", "readEventRetention", {
    summary: "Reads how long raw events are kept; counts and sums are kept forever",
    response: retentionDays,
    handle: async ({ world }) => ({ days: await readRetentionDays(world) }),
  }),
  route("PUT /v1/worlds/{w}/app-events-retention", "setEventRetention", {
    summary: "Sets how long this world keeps raw events; older events are deleted within a day",
    body: retentionDays,
    response: retentionDays,
    handle: setRetention,
  }),
];
