/** The routes that show the version calendar of a world, and its effect on the apps' requests at a date. */
import { type Static, Type } from "typebox";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldTime } from "#graph/worlds/file/schema-words";
import { unixSeconds } from "#kernel/clock";
import { formatVersion } from "#kernel/versions";
import { type UsedVersion, usedVersions } from "./used-versions.ts";

const seconds = Type.Integer({ description: "Unix seconds" });

const calendarView = Type.Object({
  platform: Type.Array(Type.Object({ version: Type.String(), released: seconds })),
  marketing: Type.Array(
    Type.Object({
      version: Type.String(),
      released: seconds,
      until: Type.Optional({ ...seconds, description: "Unix seconds at which the version stops working; left out until that is announced" }),
      affects: Type.Array(Type.String(), { description: "operations, edges and endpoints that this version changed" }),
    }),
  ),
  migrations: Type.Array(Type.Object({ name: Type.String(), start: seconds, end: seconds })),
});

const usedVersion = Type.Object({
  app: Type.String(),
  operation: Type.String(),
  asked: Type.Optional(Type.String({ description: "the version in the path of the requests; left out if the path has none" })),
  count: Type.Integer({ description: "the number of these requests among the last requests" }),
  served_now: Type.Optional(Type.String({ description: "the version that serves the requests now; left out if they are refused" })),
  served_then: Type.Optional(
    Type.String({ description: "the version that would serve the requests at the later time; left out if they would be refused" }),
  ),
  refusal: Type.Optional(Type.String({ description: "the reason why the requests would be refused" })),
});

const outlookQuery = Type.Object({ at: Type.Optional({ ...worldTime, description: "the later time: Unix seconds or ISO 8601; default: now" }) });

const readCalendar = async ({ world: { calendar } }: ControlRequest): Promise<unknown> => ({
  platform: calendar.platform.map(({ version, released }) => ({ version: formatVersion(version), released })),
  marketing: calendar.marketing.map(({ version, released, until, affects }) => ({
    ...{ version: formatVersion(version), released, affects },
    ...(until === undefined ? {} : { until }),
  })),
  migrations: calendar.migrations,
});

async function readOutlook({ deps, world, query }: ControlRequest<Static<typeof outlookQuery>>): Promise<unknown> {
  const now = unixSeconds(world.clock);
  const { at = now } = query;
  const used = await usedVersions(world, deps.registry, world.requests.entries());
  return { data: used.map((one) => outlookOf(one, now, at)).sort((a, b) => b.count - a.count), paging: {} };
}

function outlookOf({ app, operation, asked, entries, servedAt }: UsedVersion, now: number, at: number): Static<typeof usedVersion> {
  const [current, later] = [servedAt(now), servedAt(at)];
  return {
    ...{ app, operation, count: entries.length },
    ...(asked === undefined ? {} : { asked }),
    ...(typeof current === "string" ? { served_now: current } : {}),
    ...(typeof later === "string" ? { served_then: later } : { refusal: later.message }),
  };
}

export const versionRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/versions", "readVersions", {
    summary: "Reads the calendar of versions: when each version was released and when it stops working, and the migrations",
    response: calendarView,
    handle: readCalendar,
  }),
  route("GET /v1/worlds/{w}/versions/outlook", "readVersionOutlook", {
    summary: "Lists the versions that served the last requests of each app, and the versions that would serve the same requests at a later time",
    query: outlookQuery,
    response: listOf(usedVersion),
    handle: readOutlook,
  }),
];
