/** The routes for an operator's webhooks: deliveries with their attempts, replays, and callbacks. */
import { type Static, Type } from "typebox";
import { badRequest, notFound } from "#control-contract/errors";
import { EVENT_STREAM, watchStream } from "#control-contract/event-stream";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldTime } from "#graph/worlds/file/schema-words";
import type { OpenWorld } from "#graph/worlds/open-world";
import { isNodeId } from "#kernel/ids";
import { redact, redactJson } from "#kernel/redaction/redaction";
import type { Transaction } from "#storage/database";
import type { PageRequest } from "#storage/keyset";
import { type CallbackRow, findCallback, listCallbacks } from "#webhooks/callbacks/callbacks.store";
import { isHeld } from "#webhooks/callbacks/health";
import { type DeliveryRow, findDelivery, listDeliveries } from "#webhooks/history/list.store";
import { contentOf, type DeliveryStatus, deliveryStatuses, seconds, viewOf } from "#webhooks/history/view";
import type { Webhooks } from "#webhooks/webhooks";

const closed = { additionalProperties: false };
const time = Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" });
const statusNames = Object.keys(deliveryStatuses) as DeliveryStatus[];
const statusName = Type.Unsafe<DeliveryStatus>({ enum: statusNames });

const attempt = Type.Object({
  time,
  callback_id: Type.Optional(Type.String({ description: "the id of the callback; left out if the app had none" })),
  status: Type.Optional(Type.Integer({ description: "the status of the response; left out if there was no response" })),
  latency_ms: Type.Optional(Type.Number()),
  answer: Type.Optional(Type.String({ description: "the first 256 bytes of the response" })),
  error: Type.Optional(Type.String({ description: "the reason why there was no response" })),
});

export const delivery = Type.Object({
  id: Type.String(),
  webhook_id: Type.String({ description: "the webhook-id header of the requests that send it" }),
  app: Type.String(),
  callback: Type.Optional(Type.String({ description: "the address of the callback; left out if there is no callback" })),
  callback_id: Type.Optional(Type.String()),
  object: Type.String(),
  field: Type.String({ description: "the webhook field of the first event" }),
  entity: Type.String({ description: "the id of the account or page that the webhook is about" }),
  phone_number: Type.Optional(Type.String()),
  status: statusName,
  reason: Type.Optional(
    Type.String({ description: "the reason of the status: queued, retry, callback_paused, no_callback, callback_not_verified, gone or gave_up" }),
  ),
  updates: Type.Integer({ description: "the number of events in the POST" }),
  time,
  next_attempt_time: Type.Optional(time),
  ended_time: Type.Optional(time),
  attempts: Type.Array(attempt),
});

const signed = Type.Object({
  ...attempt.properties,
  signatures: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        "the signature headers of the attempt, computed again with the app's current secret; left out if nothing was sent, and for a key with the access `read`",
    }),
  ),
});

export const eventsOfDelivery = Type.Array(
  Type.Object({
    id: Type.String(),
    delivery: Type.String({ description: "the id of the event's delivery, as `trigger` returned it" }),
    field: Type.String(),
    time,
  }),
);

const content = Type.Object({
  ...delivery.properties,
  attempts: Type.Array(signed),
  body: Type.String({ description: "the exact body of the requests that send the webhook" }),
  events: eventsOfDelivery,
});

const callback = Type.Object({
  id: Type.String(),
  app: Type.String(),
  url: Type.String(),
  status: Type.Unsafe<string>({ enum: ["working", "failing", "paused"] }),
  failing_since: Type.Optional(time),
  alerted_time: Type.Optional(time),
  paused_time: Type.Optional(time),
  reason: Type.Optional(
    Type.Unsafe<string>({
      enum: ["failed", "gone", "held"],
      description: "the reason of a pause: every attempt failed for five days, the callback returned 410, or somebody paused it",
    }),
  ),
  next_attempt_time: Type.Optional({ ...time, description: "the time of the next attempt at a failed callback, if webhooks wait for it" }),
});

const deliveriesQuery = Type.Object({
  status: Type.Optional(Type.String({ description: `only webhooks with this status: ${statusNames.join(", ")}; separate several with commas` })),
  callback: Type.Optional(Type.String({ description: "only webhooks to the callback with this id or URL" })),
  field: Type.Optional(Type.String({ description: "only webhooks with an event of this webhook field" })),
  ...pageQuery.properties,
});

const pauseReason = (callback: CallbackRow): "failed" | "gone" | "held" =>
  isHeld(callback) ? "held" : callback.probe_due_ms === null ? "gone" : "failed";

function shownCallback(callback: CallbackRow) {
  const { id, app, url, failing_since_ms, alerted_ms, paused_ms, probe_due_ms } = callback;
  return {
    ...{ id, app, url },
    status: paused_ms !== null ? "paused" : failing_since_ms !== null ? "failing" : "working",
    ...(paused_ms === null ? {} : { paused_time: seconds(paused_ms), reason: pauseReason(callback) }),
    ...(failing_since_ms === null ? {} : { failing_since: seconds(failing_since_ms) }),
    ...(alerted_ms === null ? {} : { alerted_time: seconds(alerted_ms) }),
    ...(probe_due_ms === null ? {} : { next_attempt_time: seconds(probe_due_ms) }),
  };
}

function statusesOf(text: string | undefined): number[] | undefined {
  return text?.split(",").map((name) => {
    if (!statusNames.includes(name as DeliveryStatus)) throw badRequest(`status must be one of ${statusNames.join(", ")}`, "status");
    return deliveryStatuses[name as DeliveryStatus];
  });
}

const list = (request: ControlRequest<Static<typeof deliveriesQuery>>) => {
  const { status, callback: of, field } = request.query;
  const filter = { statuses: statusesOf(status), callback: of, field };
  const read = (page: PageRequest, { database }: OpenWorld) => listDeliveries(database.reader, filter, page);
  return respondWithList(request, "deliveries", read, viewFor(request as ControlRequest));
};

/** Returns the data of a delivery that the caller's key may see. Receivers' responses are redacted, because a response may repeat the payload. */
export const viewFor =
  ({ key }: ControlRequest) =>
  (row: DeliveryRow) => {
    const view = viewOf(row);
    if (key.access === "full") return view;
    const attempts = view.attempts.map((one) => (one.answer === undefined ? one : { ...one, answer: redact(one.answer) }));
    return { ...view, attempts };
  };

/** The number of newest deliveries in the stream, as many as a person sees at a glance. */
const NEWEST = 20;
const LOOK_EVERY_MS = 500;

async function readNewest(request: ControlRequest): Promise<unknown> {
  const { rows } = await listDeliveries(request.world.database.reader, {}, { limit: NEWEST });
  return { data: rows.map(viewFor(request)) };
}

const idOf = ({ path }: ControlRequest, what: string): string => {
  const id = path.id ?? "";
  if (!isNodeId(id)) throw notFound(`${what} ${id}`);
  return id;
};

async function read(request: ControlRequest): Promise<unknown> {
  const id = idOf(request, "delivery");
  const { database, webhooks } = request.world;
  const { reader } = database;
  const row = await findDelivery(reader, id);
  if (row === undefined) throw notFound(`delivery ${id}`);
  const { body, events } = await contentOf(reader, row, webhooks.fields);
  const view = viewFor(request)(row);
  // A key that may only read gets a redacted body and no signatures, because with both its user could send the body to the receiver again.
  if (request.key.access === "read") return { ...view, body: redactJson(body), events };
  const signatures = await webhooks.signaturesOf(row, body);
  const attempts = view.attempts.map((one, at) => ({ ...one, ...(signatures[at] === undefined ? {} : { signatures: signatures[at] }) }));
  return { ...view, attempts, body, events };
}

async function replay(request: ControlRequest): Promise<void> {
  const id = idOf(request, "delivery");
  if (!(await request.world.webhooks.replay(id))) throw notFound(`delivery ${id}`);
}

const span = Type.Object(
  {
    since: { ...worldTime, description: "only events since this world time: Unix seconds or ISO 8601" },
    callback: Type.Optional(Type.String({ description: "the id or URL of a callback (default: all callbacks)" })),
  },
  closed,
);

const replaySpan = ({ world, body }: ControlRequest<unknown, Static<typeof span>>) =>
  world.webhooks.replaySpan({ sinceMs: body.since * 1000, callback: body.callback });

const changeCallback = (change: (webhooks: Webhooks, tx: Transaction, id: string) => Promise<void>) => async (request: ControlRequest) => {
  const id = idOf(request, "callback");
  const { database, webhooks } = request.world;
  return database.write(async (tx) => {
    if ((await findCallback(tx, id)) === undefined) throw notFound(`callback ${id}`);
    await change(webhooks, tx, id);
  });
};

const DELIVERIES = "/v1/worlds/{w}/deliveries";
const CALLBACKS = "/v1/worlds/{w}/callbacks";

export const webhookRoutes: readonly ControlRoute[] = [
  route(`GET ${DELIVERIES}`, "listDeliveries", {
    summary: "Lists webhooks, the newest first, with each attempt",
    query: deliveriesQuery,
    response: listOf(delivery),
    handle: list,
  }),
  route(`GET ${DELIVERIES}/stream`, "streamDeliveries", {
    summary: `Streams the newest ${NEWEST} webhooks as server-sent events: at once, and whenever one of them changes, twice a second at most`,
    response: Type.Object({ data: Type.Array(delivery) }, { description: "the data of one event" }),
    streams: [EVENT_STREAM],
    isStreamAlone: true,
    handle: async (request) => watchStream(request, { event: "deliveries", everyMs: LOOK_EVERY_MS, look: () => readNewest(request) }),
  }),
  route(`GET ${DELIVERIES}/{id}`, "readDelivery", {
    summary: "Reads a webhook with its body. If the event was sent in the POST of another webhook, the response is about that webhook",
    response: content,
    handle: read,
  }),
  route(`POST ${DELIVERIES}/replay`, "replayDeliveries", {
    summary: "Sends all webhooks since a time again, to one callback or to all, with the same ids and bodies, and resumes paused callbacks",
    body: span,
    response: Type.Object({ replayed: Type.Integer() }),
    handle: replaySpan,
  }),
  route(`POST ${DELIVERIES}/{id}/replay`, "replayDelivery", {
    summary:
      "Sends a webhook again, with the same id and body, and resumes its callback if it is paused. If the event was sent in the POST of another webhook, that webhook is sent",
    handle: replay,
  }),
  route(`GET ${CALLBACKS}`, "listCallbacks", {
    summary: "Lists every callback that has had a webhook, and says whether the callback works",
    query: pageQuery,
    response: listOf(callback),
    handle: (request) => respondWithList(request, "callbacks", (page, { database }) => listCallbacks(database.reader, page), shownCallback),
  }),
  route(`POST ${CALLBACKS}/{id}/resume`, "resumeCallback", {
    summary: "Resumes a paused callback and sends its waiting webhooks",
    handle: changeCallback((webhooks, tx, id) => webhooks.resumeCallback(tx, id)),
  }),
  route(`POST ${CALLBACKS}/{id}/pause`, "pauseCallback", {
    summary: "Pauses a callback: its webhooks wait until it is resumed",
    handle: changeCallback((webhooks, tx, id) => webhooks.holdCallback(tx, id)),
  }),
];
