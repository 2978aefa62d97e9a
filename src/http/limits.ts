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
  /** Of the bodies of these requests together, in bytes. The request that exceeds it is the last one that is taken. */
  readonly requestBytesMax: number;
  /** The arrived bytes of incomplete bodies, on all connections together. */
  readonly arrivingBytesMax: number;
  /** Requests that wait for other servers, and the bytes of their bodies. */
  readonly waiting: Capacity;
  /** The same for one app. */
  readonly waitingOfAppMax: Capacity;
  /** Connections of clients. If there are more, the one that has waited longest for its client is closed. */
  readonly connectionsMax: number;
  /** Bytes of all connections together: received and not read yet, or written and not taken by the client. */
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
  // Longer than the 60 s of common load balancers, so that the load balancer closes first, and no request is lost.
  keepAliveMs: 65_000,
  // At 50 µs a request this is 0.05 s of work. With twice as many at a time each costs some 5 % more, because caches hold less of their data.
  requestsMax: 1_024,
  // At 40 ns a byte, measured with 50 app events a request, this is 0.1 s of work; a parsed body takes some ten times its bytes.
  requestBytesMax: 2_097_152,
  // Slow senders can hold at most twice this memory. A body that comes with its head, as small ones do, does not count.
  arrivingBytesMax: 33_554_432,
  // Each has a connection to another server for up to 10 s (D-61). A request to verify a callback has less than 1 KiB; a parsed body takes
  // some ten times its bytes.
  waiting: { count: 256, size: 4_194_304 },
  // A quarter, so that four apps have to misbehave together.
  waitingOfAppMax: { count: 64, size: 1_048_576 },
  // Some 20 MB, as measured with idle connections. `connectionsWithin` makes it smaller if the system allows few open files.
  connectionsMax: 8_192,
  // Every connection has space for 8 KiB, and thousands of them are idle.
  connectionBytesMax: 67_108_864,
};

/** The limits with some of them changed. The memory for arriving bodies is enough for several of the largest ones. */
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
 * Open files that are reserved for the database, the control API and requests to other servers: deliveries have at most 2,048 connections in
 * use and 2,048 idle ones, handshakes 256, the control API 256.
 */
const FILES_RESERVED = 4_864;

/** `filesMax`: open files that the system allows the process. If there are few, clients get half of them. */
export const connectionsWithin = (asked: number, filesMax: number): number =>
  Math.max(1, Math.min(asked, Math.max(filesMax - FILES_RESERVED, Math.floor(filesMax / 2))));

/** A world in a data folder has some six open files. Together they get half of the files that clients leave. */
const FILES_OF_WORLD = 6;

/** `filesMax`: open files that the system allows the process. */
export const worldsWithin = (asked: number, filesMax: number): number => Math.max(1, Math.min(asked, Math.floor(filesMax / 4 / FILES_OF_WORLD)));

/**
 * Above this the HTTP parser refuses the head without reading it. Between `headerBytesMax` and this the request is parsed, and the
 * pipeline refuses it in the error form of its endpoint.
 */
export const parserHeaderBytesMax = (limits: HttpLimits): number => Math.max(65_536, 2 * limits.headerBytesMax);

/** Files in a form may be larger, because they are not parsed. A JSON body takes some ten times its bytes. */
export function largestBody(
  { bodyBytesMax, multipartBytesMaxFor }: HttpLimits,
  { surface, path }: { readonly surface: SurfaceName; readonly path: string },
  contentType = "",
): number {
  const larger = multipartBytesMaxFor?.(surface, path) ?? 0;
  return larger > bodyBytesMax && /^multipart\/form-data\b/i.test(contentType) ? larger : bodyBytesMax;
}
