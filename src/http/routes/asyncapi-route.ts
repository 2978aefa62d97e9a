/** `{base_url}/asyncapi.json`: the webhooks (operating.md). */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import { newestVersion } from "#graph/versions/resolve";
import { unixSeconds } from "#kernel/clock";
import { formatVersion } from "#kernel/versions";
import type { RouteHandler } from "./extra-routes.ts";

export const asyncapiRoute =
  (deps: RequestDeps): RouteHandler =>
  async (_request, { world }) => {
    // Loaded when it is asked for: a start has no need of it.
    const { asyncapiDocument } = await import("#webhooks/catalogue/asyncapi");
    const document = asyncapiDocument(
      deps.registry.webhookFields,
      formatVersion(newestVersion(world.calendar, unixSeconds(world.clock))),
      world.clock.nowMs(),
    );
    return new Response(JSON.stringify(document), {
      headers: { "content-type": "application/json; charset=UTF-8", "x-pf-trace-id": deps.traceId() },
    });
  };
