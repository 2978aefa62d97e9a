/**
 * The control routes for programs that copy the log of app events (D-423). The routes list the logs of all apps, and return the events of one app's
 * log in the order of the log.
 *
 * **Invariant:** a program that continues from the cursor of each page gets every committed request in the order of commits, or learns that the
 * request was deleted. Requests are numbered without gaps in the order of their commits (`intake/batch.ts`), so a request that is missing in the log
 * was deleted.
 */
import { type Static, Type } from "typebox";
import { badRequest, conflict } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { endEpoch, epochOf } from "#graph/worlds/settings.store";
import type { World } from "#graph/worlds/world";
import { isNodeId, type NodeId } from "#kernel/ids";
import { APP, appOf, logEntry, logged } from "../app-events.control.ts";
import { type EventRow, lastRequestOf, listEventsFrom, listLogs } from "./log.store.ts";

const epoch = Type.String({ description: "the name of the history of the world's logs; a reset or a restored snapshot begins a new history" });

const log = Type.Object({
  app: Type.String(),
  epoch,
  last_request: Type.Integer({ description: "the number of the app's newest request" }),
});

const CURSOR = /^(\d{1,15})(?:-(\d{1,9}))?$/;

const logQuery = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: CURSOR.source, description: "`cursor` of the previous page (default: the page begins with the oldest event)" }),
  ),
  epoch: Type.Optional(
    Type.String({ description: "`epoch` of the previous page; if the world's epoch has changed since then, the response is 409" }),
  ),
  limit: pageQuery.properties.limit,
});

const logPage = Type.Object({
  epoch,
  data: Type.Array(logged),
  gaps: Type.Array(Type.Object({ first_request: Type.Integer(), last_request: Type.Integer() }), {
    description: "ranges of requests after the cursor `after`, of which some or all events were deleted before this page was read",
  }),
  cursor: Type.String({
    description:
      "the value of `after` for the next page: the number of the page's last request and, if the page does not have the whole request, the position in the request",
  }),
  has_more: Type.Boolean({ description: "whether the log has events after this page" }),
});

const LIMIT_DEFAULT = 100;

/** The position up to which a program has read a log. If `position` is undefined, the program has read all events of the request. */
interface Place {
  readonly request: number;
  readonly position: number | undefined;
}

function placeOf(after: string): Place {
  const [, request = "", position] = CURSOR.exec(after) ?? [];
  if (request === "") throw badRequest("after must be the cursor of a page of this log", "after");
  return { request: Number(request), position: position === undefined ? undefined : Number(position) };
}

const BEGINNING: Place = { request: 0, position: undefined };

async function listAppEventLogs(request: ControlRequest<Static<typeof pageQuery>>): Promise<unknown> {
  const current = await epochOf(request.world);
  return respondWithList(
    request,
    "app event logs",
    (page, world) => listLogs(world.database.reader, page),
    ({ app, last_request }) => ({ app, epoch: current, last_request }),
  );
}

/**
 * Returns the app in the path. A deleted app that had events is returned, too, so that programs that copy the log learn that the app's events were
 * deleted.
 */
async function loggedAppOf(request: ControlRequest): Promise<NodeId> {
  const id = request.path.app ?? "";
  return isNodeId(id) && (await lastRequestOf(request.world.database.reader, id)) > 0 ? id : appOf(request);
}

async function readAppEventLog(request: ControlRequest<Static<typeof logQuery>>): Promise<Static<typeof logPage>> {
  const { world, query } = request;
  const app = await loggedAppOf(request);
  const place = query.after === undefined ? BEGINNING : placeOf(query.after);
  const page = await readPage(world, app, place, query.limit ?? LIMIT_DEFAULT);
  // The epoch of the logs is read after the rows of the page. If the epoch in the query is still the current epoch, the rows belong to it.
  const current = await epochOf(world);
  if (query.epoch !== undefined && query.epoch !== current)
    throw conflict(
      `the world was reset or restored, so the numbers of its requests mean other events now: read the log from its beginning, in the epoch ${current}`,
      "epoch",
    );
  if (page === undefined)
    throw conflict(
      `the log of app ${app} ends before ${query.after}: perhaps an older backup of the data was restored. Begin a new epoch: POST /v1/worlds/${world.name}/log-epoch`,
      "after",
    );
  return { epoch: current, ...page };
}

type Page = Omit<Static<typeof logPage>, "epoch">;

/** Reads a page of a log. Returns undefined if `place` is after the end of the log. */
async function readPage({ database }: World, app: NodeId, { request, position }: Place, limit: number): Promise<Page | undefined> {
  // Plaza reads the newest request number before it reads the rows of the page. So the rows include all requests up to the newest request number,
  // except deleted requests.
  const last = await lastRequestOf(database.reader, app);
  if (request > last) return undefined;
  const from: [number, number] = position === undefined ? [request + 1, 0] : [request, position];
  // One extra row after the page shows whether the page ends within a request. If the log still has the row at the cursor, the request of the cursor
  // was not deleted.
  const rows = await listEventsFrom(database.reader, app, ...from, limit + (position === undefined ? 1 : 2));
  const isWhole = position === undefined || (rows[0]?.request === request && rows[0].position === position);
  if (position !== undefined && isWhole) rows.shift();
  const next = rows[limit];
  const shown = rows.slice(0, limit);
  const end = shown.at(-1);
  // If no row follows the page, all requests up to the newest request have been read or deleted.
  const read = next === undefined ? Math.max(last, end?.request ?? 0) : (end as EventRow).request;
  return {
    data: shown.map(logEntry),
    gaps: gapsBetween(isWhole ? request : request - 1, shown, read),
    cursor: end !== undefined && next?.request === end.request ? `${end.request}-${end.position}` : String(read),
    has_more: next !== undefined,
  };
}

/**
 * Returns the ranges of requests after `after` and up to `last` that have no rows. Request numbers have no gaps, so a request without rows was
 * deleted.
 */
function gapsBetween(after: number, rows: readonly EventRow[], last: number): Page["gaps"] {
  const gaps: Page["gaps"] = [];
  let seen = after;
  for (const request of [...rows.map((row) => row.request), last + 1]) {
    if (request > seen + 1) gaps.push({ first_request: seen + 1, last_request: request - 1 });
    seen = Math.max(seen, request);
  }
  return gaps;
}

export const logControlRoutes: readonly ControlRoute[] = [
  route("POST /v1/worlds/{w}/log-epoch", "beginLogEpoch", {
    summary:
      "Begins a new epoch of the world's logs, so that programs which copy the logs begin again. Call it after you have restored a backup of the server's data",
    handle: ({ world }) => world.database.write(endEpoch),
  }),
  route("GET /v1/worlds/{w}/app-event-logs", "listAppEventLogs", {
    summary: "Lists the apps that have sent events, with the numbers of their newest requests, for programs that copy the logs",
    query: pageQuery,
    response: listOf(log),
    handle: listAppEventLogs,
  }),
  route(`GET ${APP}/log`, "readAppEventLog", {
    summary:
      "Reads an app's events in the order in which they were stored, from a cursor on, and lists the requests whose events were deleted meanwhile",
    query: logQuery,
    response: logPage,
    errors: [409],
    handle: readAppEventLog,
  }),
];
