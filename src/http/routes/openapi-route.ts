/**
 * Serves `{base_url}/openapi.json`, with the addresses that the client used (operating.md). The parameters `?type=` and `?surface=` select a part of
 * the document.
 */
import { Type } from "typebox";
import type { RequestDeps } from "#graph/pipeline/handle-request";
import { parametersReader } from "#graph/pipeline/parameters";
import type { SurfaceName } from "#graph/pipeline/request";
import type { VersionCalendar } from "#graph/versions/calendar";
import { newestVersion } from "#graph/versions/resolve";
import { BoundedMap } from "#kernel/bounded-map";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import { formatVersion } from "#kernel/versions";
import type { SurfaceAddress } from "../destinations/destinations.ts";
import { atHostname } from "../destinations/origin.ts";
import type { RouteHandler } from "./extra-routes.ts";

/**
 * The maximum number of cached documents. Making an OpenAPI document takes some 100 ms, so the server caches the last documents. A document has up to
 * a megabyte, and each host that a caller uses needs its own document, so the server caches only few documents.
 */
const TEXTS_MAX = 8;

export function openapiRoute(deps: RequestDeps, surfaces: readonly SurfaceAddress[]): RouteHandler {
  const texts = new WeakMap<VersionCalendar, BoundedMap<string, string>>();
  const nameIn = (names: readonly string[]) => Type.Optional(Type.Unsafe<string>({ enum: names }));
  const readQuery = parametersReader(
    Type.Object({ type: nameIn(deps.registry.types.map(({ type }) => type)), surface: nameIn(surfaces.map(({ name }) => name)) }),
  );
  return async (request, { world, baseUrl }) => {
    const only = readQuery(Object.fromEntries(new URL(request.url).searchParams)) as { readonly type?: string; readonly surface?: SurfaceName };
    // The OpenAPI modules are loaded when they are used, because loading them would make the start slower.
    const [{ openapiDocument, servedNow }, { servedAddresses }] = await Promise.all([
      import("#graph/contract/openapi/document"),
      import("#graph/contract/openapi/addresses"),
    ]);
    const addresses = Object.fromEntries(surfaces.map((one) => [one.name, addressOf(one, baseUrl)])) as Record<SurfaceName, string>;
    const { profile, calendar } = world;
    const options = { profile, calendar, now: unixSeconds(world.clock), addresses, ...only };
    // Every surface serves at least one operation, so a document can be empty only if the request selects a type.
    if (only.surface !== undefined && servedAddresses(deps.registry, options).length === 0)
      throw invalidParameter("surface", `must be a surface that serves the type ${only.type}`);
    const known = texts.get(calendar) ?? new BoundedMap(TEXTS_MAX);
    texts.set(calendar, known);
    const key = JSON.stringify([profile, servedNow(options), addresses, only]);
    const text = known.get(key) ?? JSON.stringify(openapiDocument(deps.registry, options));
    known.set(key, text);
    return new Response(text, {
      headers: { "content-type": "application/json; charset=UTF-8", "x-pf-trace-id": deps.traceId() },
    });
  };
}

/** Returns the address of a surface for the OpenAPI document. A surface with its own host name is served at the root of that host (D-01). */
function addressOf({ hostname, mount }: SurfaceAddress, baseUrl: string): string {
  return hostname === undefined ? `${baseUrl}${mount}` : atHostname(baseUrl, hostname);
}

/** Serves `{base_url}/asyncapi.json`, the description of the webhooks (operating.md). */
export const asyncapiRoute =
  (deps: RequestDeps): RouteHandler =>
  async (_request, { world }) => {
    // The AsyncAPI module is loaded when it is used, because loading it would make the start slower.
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
