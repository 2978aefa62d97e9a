/** The server's own addresses on the graph's port, which are not part of the graph, e.g. `/openapi.json` and `/player/…` (operating.md). */
import type { SurfaceName } from "#graph/pipeline/request";
import { findHeader } from "#kernel/http-text/headers";
import type { Destination } from "../destinations/destinations.ts";
import type { RequestHead } from "../http1/request-head.ts";

export interface RouteDestination extends Destination {
  /** The scheme, host and mount that the client used, without a slash at the end. */
  readonly baseUrl: string;
  /** Whether the request arrived through a trusted proxy. */
  readonly isFromProxy: boolean;
}

/** Responds to a GET or HEAD without a body. */
export type RouteHandler = (request: Request, destination: RouteDestination) => Response | Promise<Response>;

/**
 * The handlers of the server's own routes, keyed by the path after the mount of the base surface. The handler of a path with a slash at its end
 * serves all paths that begin with this path.
 */
export type ExtraRoutes = ReadonlyMap<string, RouteHandler>;

/** A page with a form, at an address of a surface. The path of the address may begin with a version. */
export interface PageRoute {
  readonly surface: SurfaceName;
  readonly path: string;
  /** Responds to a GET, or to a POST of the form. */
  respond(request: Request, destination: RouteDestination, form: URLSearchParams | undefined): Promise<Response>;
}

/** D-381: finds the page with a form at the given address. Only worlds of the profile `clients` have pages. */
export const findPage = (
  pages: readonly PageRoute[],
  { method }: Pick<RequestHead, "method">,
  { surface, path, world }: Destination,
): PageRoute | undefined =>
  pages.length > 0 && world.profile === "clients" && (method === "GET" || method === "POST")
    ? pages.find(
        (page) => page.surface === surface && path.endsWith(page.path) && /^(?:\/v\d{1,3}\.\d{1,3})?$/.test(path.slice(0, -page.path.length)),
      )
    : undefined;

export class RouteTable {
  readonly #exact: ExtraRoutes;
  readonly #below: readonly [string, RouteHandler][];

  constructor(routes: ExtraRoutes) {
    this.#exact = routes;
    this.#below = [...routes].filter(([path]) => path !== "/" && path.endsWith("/"));
  }

  find({ method, headers, target }: RequestHead, destination: Destination): RouteHandler | undefined {
    if (destination.surface !== "base" || (method !== "GET" && method !== "HEAD")) return undefined;
    // D-05: the home page is only for browsers, which send no parameters. The server checks whether the request has parameters, because Java's own
    // HTTP client also accepts `text/html`.
    const isByBrowser = target.queryText === "" && findHeader(headers, "accept")?.includes("text/html") === true;
    if (destination.path === "/" && !isByBrowser) return undefined;
    return this.#at(destination);
  }

  /** Whether one of the server's own routes serves a GET of the given address, whatever headers the request has. */
  isAt(destination: Destination): boolean {
    return destination.surface === "base" && this.#at(destination) !== undefined;
  }

  #at({ path: given }: Destination): RouteHandler | undefined {
    const exact = this.#exact.get(given);
    if (exact !== undefined) return exact;
    for (const [path, handler] of this.#below) if (given.startsWith(path)) return handler;
    return undefined;
  }
}
