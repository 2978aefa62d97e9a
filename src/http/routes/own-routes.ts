/** The server's own routes on the graph's port, which are not part of the graph (operating.md). */
import type { RequestDeps } from "#graph/pipeline/handle-request";
import { escapedHtml } from "#kernel/text";
import type { SurfaceAddress } from "../destinations/destinations.ts";
import type { ExtraRoutes, RouteHandler } from "./extra-routes.ts";
import { asyncapiRoute, openapiRoute } from "./openapi-route.ts";
import { PLAYER_PATH, type PlayerOptions, playerRoute } from "./player-route.ts";

interface OwnRoutesOptions extends PlayerOptions {
  /** The newest version of the interface, e.g. `v26.0`. */
  version(): string;
}

export const ownRoutes = (deps: RequestDeps, surfaces: readonly SurfaceAddress[], options: OwnRoutesOptions): ExtraRoutes =>
  new Map([
    ["/", homeRoute(options.version)],
    ["/openapi.json", openapiRoute(deps, surfaces)],
    ["/asyncapi.json", asyncapiRoute(deps)],
    [PLAYER_PATH, playerRoute(deps, options)],
  ]);

/** Serves the home page. The page contains no secret, and the address is the only text on it that comes from the request. */
const homeRoute =
  (newestVersion: () => string): RouteHandler =>
  (_, { baseUrl }) => {
    const base = escapedHtml(baseUrl);
    const body = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Plaza</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>Plaza</h1>
<p>This is the graph: an HTTP interface for apps, newest version ${newestVersion()}. Requests look like
<code>${base}/${newestVersion()}/{id}/{edge}</code> and need an access token.
<ul>
<li><a href="openapi.json">openapi.json</a> describes every request, for generators and API clients.
<li>The output of <code>plaza start</code> shows requests to paste, and the address of the control API, which makes nodes and tokens.
</ul>
</html>
`;
    return new Response(body, { headers: HTML_HEADERS });
  };

const HTML_HEADERS = {
  "content-type": "text/html; charset=UTF-8",
  // The home page has no script and loads no other files.
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
  // A cache must distinguish requests by the header Accept, because clients that are not browsers get the error for an unknown path at `/`.
  vary: "Accept",
};
