/** Converts between this server's connections and the types `Request` and `Response` of `fetch`, for handlers that use these types. */
import { malformedRequest } from "#kernel/errors";
import type { Connection } from "./http1/connection.ts";
import type { RequestHead } from "./http1/request-head.ts";
import { CORS_HEADERS } from "./refusals.ts";

/**
 * Makes a `Request`. `address` is the scheme, host and path that the client used. Throws a `GraphError` if a `Request` cannot have the given values.
 */
export function webRequest({ method, target, headers: raw }: RequestHead, address: string, body?: ReadableStream<Uint8Array>): Request {
  const url = `${address}${target.queryText === "" ? "" : `?${target.queryText}`}`;
  if (!URL.canParse(url)) throw malformedRequest("The Host header is not a valid host name or address");
  const headers = new Headers();
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] as string, raw[i + 1] as string);
  const request = new Request(url, { method, headers, ...(body === undefined ? {} : { body, duplex: "half" }) });
  // Bun replaces an unknown method by GET, so the function compares the method of the `Request` with the given method.
  if (request.method !== method) throw malformedRequest(`The method ${method} is not known`);
  return request;
}

/** Makes a response whose whole body is known. The response states the length of the body, even in response to HEAD. */
export function wholeResponse(body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>, status = 200): Response {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  return new Response(body, { status, headers: { ...headers, "content-length": String(length) } });
}

/** Sends a response. Returns a promise that resolves when the client has received the whole response, or has closed the connection. */
export const sendWebResponse = (connection: Connection, { status, headers, body }: Response): Promise<void> =>
  connection.stream({ status, headers: ownHeaders(headers) }, body ?? undefined);

/** Returns those headers of a response that a handler may set. The server itself sets all other headers of a response. */
function ownHeaders(given: Headers): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of given) if (!RESERVED.has(name)) headers[name] = value;
  return headers;
}

const RESERVED = new Set([...Object.keys(CORS_HEADERS), "connection", "date", "keep-alive", "transfer-encoding"]);
