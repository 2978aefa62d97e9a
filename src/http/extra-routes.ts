/** What stands on the graph's own address beside the graph: `/openapi.json`, `/player/…` (operating.md). */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { RawHeaders } from "./arrived.ts";
import { CORS_HEADERS } from "./cors.ts";
import type { Place } from "./places.ts";

export interface RoutePlace extends Place {
  /** Scheme, host and mount as the caller used them, without a trailing slash. */
  readonly baseUrl: string;
}

/** Given a GET or HEAD without a body. */
export type RouteHandler = (request: Request, place: RoutePlace) => Response | Promise<Response>;

/** By path below the base surface's mount; a path with a slash at its end takes all below it. */
export type ExtraRoutes = ReadonlyMap<string, RouteHandler>;

export class RouteTable {
  readonly #exact: ExtraRoutes;
  readonly #below: readonly [string, RouteHandler][];

  constructor(routes: ExtraRoutes) {
    this.#exact = routes;
    this.#below = [...routes].filter(([path]) => path.endsWith("/"));
  }

  find(method: string, place: Place): RouteHandler | undefined {
    if (place.surface !== "base" || (method !== "GET" && method !== "HEAD")) return undefined;
    const exact = this.#exact.get(place.path);
    if (exact !== undefined) return exact;
    for (const [path, handler] of this.#below) if (place.path.startsWith(path)) return handler;
    return undefined;
  }
}

export function requestOf(method: string, place: RoutePlace, queryText: string, raw: RawHeaders): Request {
  const headers = new Headers();
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] as string, raw[i + 1] as string);
  return new Request(`${place.baseUrl}${place.path}${queryText === "" ? "" : `?${queryText}`}`, { method, headers });
}

/** Streams the body, no faster than the caller reads it. */
export async function writeResponse(response: ServerResponse, answer: Response, isHead: boolean): Promise<void> {
  const headers: Record<string, string> = { ...Object.fromEntries(answer.headers), ...CORS_HEADERS };
  response.writeHead(answer.status, headers);
  if (!isHead && answer.body !== null) {
    for await (const chunk of answer.body) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await Promise.race([once(response, "drain"), once(response, "close")]);
    }
  }
  response.end();
}
