/** What stands on the graph's own address beside the graph (operating.md). */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { SurfaceAddress } from "../places.ts";
import { asyncapiRoute } from "./asyncapi-route.ts";
import type { ExtraRoutes } from "./extra-routes.ts";
import { homeRoute } from "./home-route.ts";
import { openapiRoute } from "./openapi-route.ts";

/** `version` is the newest of the interface, e.g. `v26.0`. */
export const ownRoutes = (deps: RequestDeps, surfaces: readonly SurfaceAddress[], version: () => string): ExtraRoutes =>
  new Map([
    ["/", homeRoute(version)],
    ["/openapi.json", openapiRoute(deps, surfaces)],
    ["/asyncapi.json", asyncapiRoute(deps)],
  ]);
