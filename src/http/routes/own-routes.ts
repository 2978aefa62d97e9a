/** What stands on the graph's own address beside the graph (operating.md). */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import type { SurfaceAddress } from "../places/places.ts";
import { asyncapiRoute } from "./asyncapi-route.ts";
import type { ExtraRoutes } from "./extra-routes.ts";
import { homeRoute } from "./home-route.ts";
import { openapiRoute } from "./openapi-route.ts";
import { PLAYER_PATH, type PlayerOptions, playerRoute } from "./player-route.ts";

export interface OwnRoutesOptions extends PlayerOptions {
  /** The newest of the interface, e.g. `v26.0`. */
  version(): string;
}

export const ownRoutes = (deps: RequestDeps, surfaces: readonly SurfaceAddress[], options: OwnRoutesOptions): ExtraRoutes =>
  new Map([
    ["/", homeRoute(options.version)],
    ["/openapi.json", openapiRoute(deps, surfaces)],
    ["/asyncapi.json", asyncapiRoute(deps)],
    [PLAYER_PATH, playerRoute(deps, options)],
  ]);
