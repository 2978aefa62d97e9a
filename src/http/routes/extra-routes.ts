/** What stands on the graph's own address beside the graph: `/openapi.json`, `/player/…` (operating.md). */

import type { RawHeaders } from "../arrived.ts";
import { CORS_HEADERS } from "../cors.ts";
import type { Connection } from "../http1/connection.ts";
import type { Place } from "../places.ts";
import { hasContent, headText } from "../responses.ts";

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
export async function writeWebResponse(connection: Connection, response: Response, isHead: boolean): Promise<void> {
  const length = response.headers.get("content-length");
  const isBodyless = isHead || !hasContent(response.status) || response.body === null;
  const isChunked = length === null && !isBodyless && !connection.isHttp10;
  // Without a length and without chunks only the end of the connection says that the body is whole.
  const isLast = connection.isLast || (length === null && !isBodyless && !isChunked);
  const isEmpty = length === null && response.body === null && !isHead && hasContent(response.status);
  const framing = isChunked ? "transfer-encoding: chunked\r\n" : isEmpty ? "content-length: 0\r\n" : "";
  const head = `${headText(response.status, ownHeaders(response.headers), isLast, connection.isHttp10)}${framing}\r\n`;
  connection.hasBegunResponse = true;
  await connection.writeBytes(Buffer.from(head, "latin1"));
  if (!isBodyless) {
    for await (const part of response.body as ReadableStream<Uint8Array>) {
      if (connection.isGone) return;
      if (part.length > 0) await connection.writeBytes(isChunked ? chunkOf(part) : part);
    }
    if (isChunked) await connection.writeBytes(LAST_CHUNK);
  }
  connection.responded(isLast);
}

/** Those that a handler may say; the others are the connection's. */
function ownHeaders(given: Headers): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of given) if (!RESERVED.has(name)) headers[name] = value;
  return headers;
}

const RESERVED = new Set([...Object.keys(CORS_HEADERS), "connection", "date", "keep-alive", "transfer-encoding"]);
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

const chunkOf = (part: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
