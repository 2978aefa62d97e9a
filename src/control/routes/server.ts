/** The routes that describe and stop the running server, and that list the errors and scopes of the graph. */
import { Type } from "typebox";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { newestVersion } from "#graph/versions/resolve";
import { unixSeconds } from "#kernel/clock";
import { withoutCitations } from "#kernel/text";
import { formatVersion } from "#kernel/versions";

const address = Type.String({ format: "uri" });

export const serverFacts = Type.Object({
  version: Type.String({ description: "the version of Plaza" }),
  pid: Type.Integer(),
  started_at: Type.Number({ description: "Unix seconds of real time, with milliseconds as their fraction" }),
  data: Type.Unsafe<string>({ enum: ["sqlite", "memory", "postgres"] }),
  processes: Type.Integer({ description: "the number of processes that serve the graph" }),
  sandbox: Type.Boolean(),
  drain_delay_ms: Type.Integer({ description: "the time for which the server still serves requests after it was told to stop" }),
  newest_version: Type.String({ description: "the newest version of the graph, as in a path, e.g. v26.0" }),
  base_url: address,
  app_base_url: address,
  microblog_base_url: address,
  ads_base_url: address,
  social_login_host: address,
  rtmp_url: Type.Optional(Type.String({ description: "the address for encoders; left out if encoders cannot connect" })),
});

const graphError = Type.Object({
  name: Type.String(),
  status: Type.Integer(),
  flat_status: Type.Optional(Type.Integer({ description: "the status in page messaging, if it differs" })),
  code: Type.Integer(),
  flat_code: Type.Optional(Type.Integer({ description: "the code in page messaging, if it differs" })),
  subcode: Type.Optional(Type.Integer()),
  type: Type.String(),
  is_transient: Type.Boolean({ description: "whether the same request may succeed later" }),
  when: Type.String({ description: "the cause of the error" }),
  mend: Type.String({ description: "the change with which the request succeeds" }),
});

async function readServer({ deps, world: first, url, key }: ControlRequest): Promise<unknown> {
  const { stop: _, startedMs, ...facts } = deps.server;
  // A key that is bound to a world gets the time and the calendar of its own world, because its user must not learn about the first world.
  const held = key.world === undefined ? undefined : await deps.worlds.hold(key.world);
  const { calendar, clock } = held?.world ?? first;
  held?.leave();
  return {
    ...facts,
    started_at: startedMs / 1000,
    ...deps.describeServer(new URL(url).hostname),
    newest_version: formatVersion(newestVersion(calendar, unixSeconds(clock))),
  };
}

const listErrors = async ({ deps }: ControlRequest): Promise<unknown> => ({
  data: [...deps.registry.errors].map(([name, { status, flatStatus, code, flatCode, subcode, type, isTransient, when, mend }]) => ({
    ...{ name, status, code, type, is_transient: isTransient === true, when: withoutCitations(when), mend },
    ...(flatStatus === undefined ? {} : { flat_status: flatStatus }),
    ...(flatCode === undefined ? {} : { flat_code: flatCode }),
    ...(subcode === undefined ? {} : { subcode }),
  })),
  paging: {},
});

const scope = Type.Object({
  scope: Type.String(),
  areas: Type.Array(Type.String(), { description: "the parts of the graph that need the scope, e.g. custom-labels" }),
});

async function listScopes({ deps: { registry } }: ControlRequest): Promise<unknown> {
  const areas = new Map([...registry.scopes].sort().map((name) => [name, [] as string[]]));
  for (const { name, policies = [], scopes = [] } of registry.features)
    for (const needed of new Set([...policies.flatMap((policy) => policy.scopes), ...scopes])) areas.get(needed)?.push(name);
  return { data: [...areas].map(([name, of]) => ({ scope: name, areas: of.sort() })), paging: {} };
}

export const serverRoutes: readonly ControlRoute[] = [
  route("GET /v1/server", "readServer", {
    summary: "Describes this server: the addresses of the graph for this caller, and its newest version",
    response: serverFacts,
    servesBoundKeys: true,
    handle: readServer,
  }),
  route("POST /v1/server/stop", "stopServer", {
    summary:
      "Ends the server as SIGTERM does: the server serves requests for the time of --drain-delay-ms, then accepts no new requests, and gives running requests 10 s to end",
    handle: async ({ deps }) => deps.server.stop(),
  }),
  route("GET /v1/errors", "listErrors", {
    summary: "Lists every error of the graph, with its cause",
    response: listOf(graphError),
    servesBoundKeys: true,
    handle: listErrors,
  }),
  route("GET /v1/scopes", "listScopes", {
    summary: "Lists every scope that this server knows, with the parts of the graph that need it",
    response: listOf(scope),
    servesBoundKeys: true,
    handle: listScopes,
  }),
];
