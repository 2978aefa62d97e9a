/** The routes that return the audit list of control keys (D-331): page by page for people, and as lines of JSON for an archive. */
import { type Static, Type } from "typebox";
import { type AuditFilter, type AuditRow, listAudit } from "#auth/control-audit.store";
import { badRequest } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { NDJSON, respondWithLines } from "#control-contract/ndjson";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { secondsOf } from "#graph/worlds/file/schema-words";
import { isNodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { auditKeptFrom } from "../../audit.ts";

const CONFIGURED = "configured";

const entry = Type.Object({
  id: Type.String(),
  time: Type.Number({ description: "Unix seconds of real time, with milliseconds as their fraction" }),
  key: Type.String({ description: `the id of the key in the list of keys; ${CONFIGURED}: the configured key` }),
  key_name: Type.String(),
  operation: Type.String(),
  method: Type.String(),
  route: Type.String({ description: "the path of the route, without ids" }),
  world: Type.Optional(Type.String({ description: "the world of the request; left out if the request is about the server" })),
  status: Type.Optional(
    Type.Integer({ description: "the status of the response; left out if the request still runs, or its process ended before it responded" }),
  ),
});

const filters = {
  key: Type.Optional(Type.String({ description: `only requests with this key: the id of a key, or ${CONFIGURED}` })),
  world: Type.Optional(Type.String({ description: "only requests to this world" })),
  since: Type.Optional(Type.String({ description: "only requests since this time: Unix seconds or ISO 8601" })),
};
const filterWords = Type.Object(filters);
const listQuery = Type.Object({ ...filters, ...pageQuery.properties });

const shown = ({ id, time_ms, key_id, key_name, world, status, ...facts }: AuditRow) => ({
  ...{ id, time: time_ms / 1_000, key: key_id === "0" ? CONFIGURED : key_id, key_name, ...facts },
  ...(world === "" ? {} : { world }),
  ...(status === 0 ? {} : { status }),
});

/** Makes the filter of audit entries for a request. A key that is bound to a world sees only entries about its world. */
function filterOf({ query, key, deps }: ControlRequest<Static<typeof filterWords>>): AuditFilter {
  const { key: of, world, since } = query;
  if (of !== undefined && of !== CONFIGURED && !isNodeId(of)) throw badRequest(`key must be the id of a key, or ${CONFIGURED}`, "key");
  const seconds = since === undefined ? 0 : secondsOf(/^\d+$/.test(since) ? Number(since) : since, "since");
  return {
    key_id: of === CONFIGURED ? "0" : of,
    world: key.world ?? world,
    sinceMs: Math.max(seconds * 1_000, auditKeptFrom(deps)),
  };
}

/** The number of audit entries that one query reads. These entries are some 200 kB of text. */
const PAGE_ROWS = 1_000;

async function* lines(reader: Reader, filter: AuditFilter): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let after: readonly string[] | undefined; ; ) {
    const { rows, hasNext, lastKey } = await listAudit(reader, filter, { limit: PAGE_ROWS, after });
    if (rows.length > 0) yield encoder.encode(rows.map((row) => `${JSON.stringify(shown(row))}\n`).join(""));
    if (!hasNext || lastKey === undefined) return;
    after = lastKey;
  }
}

export const auditRoutes: readonly ControlRoute[] = [
  route("GET /v1/audit", "listAudit", {
    summary:
      "Lists the requests with control keys that changed something, were refused, or read secrets, the newest first. `--audit-reads` adds all other requests. A key that is bound to a world gets only the requests to that world",
    query: listQuery,
    response: listOf(entry),
    errors: [422],
    servesBoundKeys: true,
    handle: (request) => {
      const filter = filterOf(request);
      return respondWithList(request, "audit", (page, { database }) => listAudit(database.reader, filter, page), shown);
    },
  }),
  route("GET /v1/audit/export", "exportAudit", {
    summary: "Exports the audit list as NDJSON, one entry a line",
    query: filterWords,
    response: entry,
    errors: [422],
    streams: [NDJSON],
    isStreamAlone: true,
    servesBoundKeys: true,
    handle: async (request) => respondWithLines(lines(request.world.database.reader, filterOf(request))),
  }),
];
