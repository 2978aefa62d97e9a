/** The running server itself: what it is, and its end. */
import { Type } from "typebox";
import { conflict } from "#control-contract/errors";
import type { ControlRequest, ControlRoute, ServedBy } from "#control-contract/route";

const server = Type.Object({
  version: Type.String({ description: "of Plaza" }),
  pid: Type.Integer(),
  started_at: Type.Number({ description: "Unix seconds of real time, with milliseconds as their fraction" }),
  base_url: Type.String({ description: "of the graph" }),
  data: Type.Unsafe<string>({ enum: ["sqlite", "memory", "postgres"] }),
  sandbox: Type.Boolean(),
  processes: Type.Integer({ description: "that serve the graph" }),
});

function serverOf({ deps }: ControlRequest): ServedBy {
  if (deps.server === undefined) throw conflict("no server uses the data");
  return deps.server;
}

export const serverRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: "/v1/server",
    operation: "readServer",
    summary: "What this server is",
    response: server,
    errors: [409],
    handle: async (request) => {
      const { stop: _, startedMs, ...rest } = serverOf(request);
      return { ...rest, started_at: startedMs / 1000 };
    },
  },
  {
    method: "POST",
    path: "/v1/server/stop",
    operation: "stopServer",
    summary: "Ends the server as SIGTERM does: no new requests, and running ones end, within 10 s at most",
    response: Type.Object({ success: Type.Boolean() }),
    errors: [409],
    handle: async (request) => {
      serverOf(request).stop();
      return { success: true };
    },
  },
];
