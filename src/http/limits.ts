/** How much a client may send, and how slowly. Each default can be changed by the configuration. */
import type { Registry } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import type { Capacity } from "#kernel/shares";

export interface HttpLimits {
  /** Of a request body, in bytes. */
  readonly bodyBytesMax: number;
  /** A larger limit for bodies of multipart/form-data at one address; undefined leaves it at `bodyBytesMax`. `path` is below the mount. */
  readonly multipartBytesMaxFor?: (surface: SurfaceName, path: string) => number | undefined;
  /** Of the address and all headers, names and values, in bytes. */
  readonly headerBytesMax: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyMsMax: number;
  /** From the first byte (or the opening of the connection) to the end of the headers. */
  readonly headMsMax: number;
  /** How long a connection may stay open without a request. */
  readonly keepAliveMs: number;
  /** Requests that are in the pipeline at the same time; one more is turned away (D-97). */
  readonly requestsMax: number;
  /** Of their bodies together, in bytes; the request that goes beyond it is the last one taken. */
  readonly requestBytesMax: number;
  /** Of what has arrived of bodies that are not complete, on all connections together, in bytes. */
  readonly arrivingBytesMax: number;
  /** Requests that wait for other servers, and the bytes of their bodies. */
  readonly waiting: Capacity;
  /** The same for one app. */
  readonly waitingOfAppMax: Capacity;
  /** Connections of clients; of more, the one that has waited longest for its client is closed. */
  readonly connectionsMax: number;
  /** What all connections may hold together: bytes that were received and are not read yet, and responses that clients do not take. */
  readonly connectionBytesMax: number;
}

export const defaultLimits: HttpLimits = {
  // The largest bodies of the interface, a batch of 50 requests or 50 events, stay well below 256 KiB.
  bodyBytesMax: 1_048_576,
  // Three tokens, a selection of fields and a cursor fit in 4 KiB; 16 KiB is what proxies commonly allow.
  headerBytesMax: 16_384,
  // 1 MiB in 10 s is a line of 0.8 Mbit/s.
  bodyMsMax: 10_000,
  headMsMax: 10_000,
  // Longer than the 60 s of common load balancers, so that they and not Plaza close first and no request is lost in between.
  keepAliveMs: 65_000,
  // At 50 µs a request this is 0.05 s of work. Twice as many at a time cost some 5 % more each, because less of what they need is at hand.
  requestsMax: 1_024,
  // At 40 ns a byte, measured with 50 app events a request, this is 0.1 s of work; parsed, a body takes some ten times its bytes.
  requestBytesMax: 2_097_152,
  // Memory that senders can hold by being slow, at most twice this. A body that comes with its head, as small ones do, needs none of it.
  arrivingBytesMax: 33_554_432,
  // Each has a connection to another server for up to 10 s (D-61). A request to verify a callback has less than 1 KiB; parsed, a body takes some
  // ten times its bytes.
  waiting: { count: 256, size: 4_194_304 },
  // A quarter: four apps have to misbehave together.
  waitingOfAppMax: { count: 64, size: 1_048_576 },
  // Some 20 MB, as measured with idle connections. `connectionsWithin` makes it smaller where the system allows few open files.
  connectionsMax: 8_192,
  // Every connection has space for 8 KiB, and thousands of them are idle.
  connectionBytesMax: 67_108_864,
};

/** The limits with some of them changed; memory for bodies that arrive is enough for some of the largest. */
export function limitsOf(changed: Partial<HttpLimits>): HttpLimits {
  const limits = { ...defaultLimits, ...changed };
  const arrivingBytesMax = Math.max(limits.arrivingBytesMax, 4 * limits.bodyBytesMax);
  return { ...limits, arrivingBytesMax, connectionBytesMax: Math.max(limits.connectionBytesMax, 2 * arrivingBytesMax) };
}

/** The larger limits of operations that take files, by the edge at the end of their addresses. */
export function multipartLimits(endpoints: Registry["endpoints"]): Required<HttpLimits>["multipartBytesMaxFor"] {
  const byEdge = new Map<string, number>();
  for (const { served } of endpoints) {
    const { edge, multipartBytesMax } = served?.contract ?? {};
    if (edge != null && multipartBytesMax !== undefined) byEdge.set(edge, multipartBytesMax);
  }
  return (surface, path) => (surface === "base" ? byEdge.get(path.slice(path.lastIndexOf("/") + 1)) : undefined);
}

/**
 * Files that stay free for the database, the control API and requests to other servers: deliveries have at most 2,048 connections in
 * use and 2,048 idle ones, handshakes 256, the control API 256.
 */
const FILES_RESERVED = 4_864;

/** `filesMax`: open files that the system allows the process; of few, half are for clients. */
export const connectionsWithin = (asked: number, filesMax: number): number =>
  Math.max(1, Math.min(asked, Math.max(filesMax - FILES_RESERVED, Math.floor(filesMax / 2))));

/**
 * Above this the HTTP parser itself refuses, before the request is known. Between `headerBytesMax` and this the request is parsed and
 * refused in the pipeline, in its own error form.
 */
export const parserHeaderBytesMax = (limits: HttpLimits): number => Math.max(65_536, 2 * limits.headerBytesMax);

/** Files in a form are not parsed; as JSON, a body takes some ten times its bytes. */
export function largestBody(
  { bodyBytesMax, multipartBytesMaxFor }: HttpLimits,
  { surface, path }: { readonly surface: SurfaceName; readonly path: string },
  contentType = "",
): number {
  const larger = multipartBytesMaxFor?.(surface, path) ?? 0;
  return larger > bodyBytesMax && /^multipart\/form-data\b/i.test(contentType) ? larger : bodyBytesMax;
}
