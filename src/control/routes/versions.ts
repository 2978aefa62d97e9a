/** The world's version calendar, and what a date would do to the requests that apps make. */
import { type Static, Type } from "typebox";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { Endpoint } from "#graph/contract/registry";
import { segmentsOf } from "#graph/pipeline/address";
import { servedVersion } from "#graph/versions/resolve";
import { secondsOf, worldTime } from "#graph/worlds/file/schema-words";
import type { RequestEntry } from "#graph/worlds/request-log";
import { unixSeconds } from "#kernel/clock";
import { GraphError } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { formatVersion, parseVersion } from "#kernel/versions";

const seconds = Type.Integer({ description: "Unix seconds" });

const calendarView = Type.Object({
  platform: Type.Array(Type.Object({ version: Type.String(), released: seconds })),
  marketing: Type.Array(
    Type.Object({
      version: Type.String(),
      released: seconds,
      until: Type.Optional({ ...seconds, description: "Unix seconds at which it stops working; left out while that is not announced" }),
      affects: Type.Array(Type.String(), { description: "operations, edges and endpoints that this version changed" }),
    }),
  ),
  migrations: Type.Array(Type.Object({ name: Type.String(), start: seconds, end: seconds })),
});

const usedVersion = Type.Object({
  app: Type.String(),
  operation: Type.String(),
  asked: Type.Optional(Type.String({ description: "left out where the path named none" })),
  count: Type.Integer({ description: "of the last requests" }),
  served_now: Type.Optional(Type.String({ description: "left out where it is refused" })),
  served_then: Type.Optional(Type.String({ description: "left out where it would be refused" })),
  refusal: Type.Optional(Type.String({ description: "why it would be" })),
});

const outlookQuery = Type.Object({ at: Type.Optional({ ...worldTime, description: "Unix seconds or ISO 8601; now when left out" }) });

const readCalendar = async ({ world: { calendar } }: ControlRequest): Promise<unknown> => ({
  platform: calendar.platform.map(({ version, released }) => ({ version: formatVersion(version), released })),
  marketing: calendar.marketing.map(({ version, released, until, affects }) => ({
    ...{ version: formatVersion(version), released, affects },
    ...(until === undefined ? {} : { until }),
  })),
  migrations: calendar.migrations,
});

/** The requests of the log that name the same app, operation and version. */
async function readOutlook(request: ControlRequest<Static<typeof outlookQuery>>): Promise<unknown> {
  const { deps, world, query } = request;
  const now = unixSeconds(world.clock);
  const at = query.at === undefined ? now : secondsOf(query.at, "at");
  const endpoints = new Map(deps.registry.endpoints.map((endpoint) => [endpoint.access.operation, endpoint]));
  const groups = Map.groupBy(world.requests.entries(), ({ app, operation, path }) => `${app} ${operation} ${segmentsOf(path)[0]}`);
  const data: Static<typeof usedVersion>[] = [];
  for (const entries of groups.values()) {
    const { app, operation } = entries[0] as RequestEntry;
    const endpoint = endpoints.get(operation);
    if (app === undefined || endpoint === undefined) continue;
    const used = await usedOf(request, entries, endpoint, now, at);
    if (used !== undefined) data.push(used);
  }
  return { data: data.sort((a, b) => b.count - a.count), paging: {} };
}

async function usedOf(
  { world }: ControlRequest,
  entries: readonly RequestEntry[],
  { access, names }: Endpoint,
  now: number,
  at: number,
): Promise<Static<typeof usedVersion> | undefined> {
  const { app: id, operation, path } = entries[0] as RequestEntry;
  const app = id === undefined || !isNodeId(id) ? undefined : await world.tokens.findApp(id);
  if (app === undefined) return undefined;
  const asked = parseVersion(segmentsOf(path)[0] ?? "");
  const input = { rule: access.versions, asked, app, calendar: world.calendar, names, path };
  const [current, later] = [now, at].map((moment) => {
    try {
      return formatVersion(servedVersion({ ...input, now: moment }).version);
    } catch (error) {
      if (error instanceof GraphError) return error;
      throw error;
    }
  });
  return {
    ...{ app: app.id, operation, count: entries.length },
    ...(asked === undefined ? {} : { asked: formatVersion(asked) }),
    ...(typeof current === "string" ? { served_now: current } : {}),
    ...(typeof later === "string" ? { served_then: later } : { refusal: later?.message ?? "" }),
  };
}

export const versionRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: "/v1/worlds/{w}/versions",
    operation: "readVersions",
    summary: "The calendar of versions: when each came and when it stops working, and the migrations",
    response: calendarView,
    errors: [404],
    handle: readCalendar,
  },
  route({
    method: "GET",
    path: "/v1/worlds/{w}/versions/outlook",
    operation: "readVersionOutlook",
    summary: "Which versions the last requests of each app asked for, and what would serve the same requests at a later moment",
    query: outlookQuery,
    response: listOf(usedVersion),
    errors: [404],
    handle: readOutlook,
  }),
];
