/**
 * The route for programs that copy delivered webhooks (D-424): it reads the log of deliveries from old to new, like the log of app events (D-423).
 */
import { type Static, Type } from "typebox";
import { conflict } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { epochOf } from "#graph/worlds/settings.store";
import { redactJson } from "#kernel/redaction/redaction";
import { lastPosition, listLogged } from "#webhooks/history/delivery-log.store";
import { listDeliveriesOf } from "#webhooks/history/list.store";
import { contentOf } from "#webhooks/history/view";
import { delivery, eventsOfDelivery, viewFor } from "./webhooks.ts";

const LIMIT_DEFAULT = 100;
/**
 * The greatest number of webhooks on a page of the log. This limit of a page is lower than the limits of other lists, because a
 * webhook can have a thousand events.
 */
const LIMIT_MAX = 200;

const logQuery = Type.Object({
  after: Type.Optional(Type.Integer({ minimum: 0, description: "`cursor` of the previous page; by default the page begins with the oldest entry" })),
  epoch: Type.Optional(Type.String({ description: "`epoch` of the previous page; if the world has another epoch by now, the response is 409" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `the number of entries of a page (default: ${LIMIT_DEFAULT})` })),
});

const entry = Type.Object({
  position: Type.Integer({ description: "the number of the entry in the log; the numbers are in the order of commits and have no gaps" }),
  ...delivery.properties,
  body: Type.String({ description: "the body of the requests that sent the webhook; without secrets for a key with the access `read`" }),
  events: eventsOfDelivery,
});

const logPage = Type.Object({
  epoch: Type.String({ description: "the id of the history of the world's logs; a reset or a restored snapshot begins a new history" }),
  data: Type.Array(entry),
  gaps: Type.Array(Type.Object({ first_position: Type.Integer(), last_position: Type.Integer() }), {
    description: "the positions of the entries after `after` that were deleted before this page was read",
  }),
  cursor: Type.Integer({ description: "the value of `after` for the next page" }),
  last_position: Type.Integer({ description: "the position of the newest entry" }),
  has_more: Type.Boolean(),
});

interface LogPage extends Omit<Static<typeof logPage>, "data"> {
  readonly data: readonly { readonly position: number }[];
}

async function readDeliveryLog(request: ControlRequest<Static<typeof logQuery>>): Promise<LogPage> {
  const { world, query } = request;
  if (!world.webhooks.deps.hasLog) throw conflict("this server does not log delivered webhooks: start it with --webhook-log");
  const { after = 0, limit = LIMIT_DEFAULT } = query;
  // The newest position in the log is read before the log's entries. Therefore the entries include all positions up to the newest
  // position, except deleted ones.
  const last = await lastPosition(world.database.reader);
  const page = await readPage(request as ControlRequest, after, last, limit);
  // The epoch of the log is read after the log's entries. If the epoch is still the one that the reader sent, all entries belong to that epoch.
  const epoch = await epochOf(world);
  if (query.epoch !== undefined && query.epoch !== epoch)
    throw conflict(`the world was reset or restored: read the log from its beginning, in the epoch ${epoch}`, "epoch");
  if (after > last)
    throw conflict(
      `the log ends before ${after}: perhaps an older backup of the data was restored. Begin a new epoch: POST /v1/worlds/${world.name}/log-epoch`,
      "after",
    );
  return { epoch, ...page };
}

async function readPage(request: ControlRequest, after: number, last: number, limit: number): Promise<Omit<LogPage, "epoch">> {
  const { database, webhooks } = request.world;
  const rows = await listLogged(database.reader, after, limit + 1);
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  const found = await listDeliveriesOf(database.reader, [...new Set(shown.map((row) => row.delivery))]);
  const deliveries = new Map(found.map((row) => [row.id, row]));
  const view = viewFor(request);
  const data: { readonly position: number }[] = [];
  for (const row of shown) {
    const of = deliveries.get(row.delivery);
    if (of === undefined) continue;
    const { body, events } = await contentOf(database.reader, of, webhooks.fields);
    const shownBody = request.key.access === "read" ? redactJson(body) : body;
    data.push(Object.assign({ position: row.position }, view(of), { body: shownBody, events }));
  }
  const cursor = hasMore ? (shown.at(-1)?.position ?? after) : Math.max(last, shown.at(-1)?.position ?? 0);
  return { data, gaps: gapsBetween(after, data, cursor), cursor, last_position: Math.max(last, cursor), has_more: hasMore };
}

/** Finds the positions above `after` and up to `last` that have no entry or have a deleted delivery. */
function gapsBetween(after: number, entries: LogPage["data"], last: number): LogPage["gaps"] {
  const gaps: LogPage["gaps"] = [];
  let seen = after;
  for (const position of [...entries.map((one) => one.position), last + 1]) {
    if (position > seen + 1) gaps.push({ first_position: seen + 1, last_position: position - 1 });
    seen = position;
  }
  return gaps;
}

export const deliveryLogRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/delivery-log", "readDeliveryLog", {
    summary: "Reads delivered webhooks in the order in which they were stored as delivered, from a cursor on. The server needs `--webhook-log`",
    query: logQuery,
    response: logPage,
    errors: [409],
    handle: readDeliveryLog,
  }),
];
