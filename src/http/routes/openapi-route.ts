/** `{base_url}/openapi.json`, with the addresses as the client used them (operating.md). */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { SurfaceName } from "#graph/pipeline/request";
import { unknownPath } from "#kernel/errors";
import { atHostname } from "../origin.ts";
import type { SurfaceAddress } from "../places.ts";
import { refusal } from "../refusals.ts";
import type { RouteHandler } from "./extra-routes.ts";

export function openapiRoute(deps: RequestDeps, surfaces: readonly SurfaceAddress[]): RouteHandler {
  return async (request, { world, baseUrl }) => {
    const type = new URL(request.url).searchParams.get("type") ?? undefined;
    if (type !== undefined && !deps.registry.types.some((known) => known.type === type)) {
      const { status, headers, body } = refusal(deps, world, "base", unknownPath(`/openapi.json?type=${type}`), "wrapped");
      return new Response(body, { status, headers });
    }
    // Loaded when it is asked for: a start has no need of it.
    const { openapiDocument } = await import("#graph/contract/openapi");
    const addresses = Object.fromEntries(surfaces.map((surface) => [surface.name, addressOf(surface, baseUrl)])) as Record<SurfaceName, string>;
    const { profile, calendar } = world;
    const document = openapiDocument(deps.registry, { profile, calendar, addresses, ...(type === undefined ? {} : { type }) });
    return new Response(JSON.stringify(document), {
      headers: { "content-type": "application/json; charset=UTF-8", "x-pf-trace-id": deps.traceId() },
    });
  };
}

/** A surface with a host name of its own stands at that host's root (D-01). */
function addressOf({ hostname, mount }: SurfaceAddress, baseUrl: string): string {
  return hostname === undefined ? `${baseUrl}${mount}` : atHostname(baseUrl, hostname);
}
