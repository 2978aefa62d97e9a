/** The documents of the interface, on the graph's own address. */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { SurfaceAddress } from "../places.ts";
import { asyncapiRoute } from "./asyncapi-route.ts";
import type { ExtraRoutes } from "./extra-routes.ts";
import { openapiRoute } from "./openapi-route.ts";

export const documentRoutes = (deps: RequestDeps, surfaces: readonly SurfaceAddress[]): ExtraRoutes =>
  new Map([
    ["/openapi.json", openapiRoute(deps, surfaces)],
    ["/asyncapi.json", asyncapiRoute(deps)],
  ]);
