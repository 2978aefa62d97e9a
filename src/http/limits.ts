/** The number of bytes that a client may send, and the time in which they must arrive. The configuration can change each default. */
import type { Registry } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import type { Capacity } from "#kernel/shares";

export interface HttpLimits {
  /** The greatest number of bytes in a request body. */
  readonly bodyBytesMax: number;
  /**
   * A larger limit for bodies of multipart/form-data at one address. If undefined is returned, `bodyBytesMax` applies. `path` is the path below the
   * surface's mount.
   */
  readonly multipartBytesMaxFor?: (surface: SurfaceName, path: string) => number | undefined;
  /** The greatest number of bytes of the address and all headers, names and values. */
  readonly headerBytesMax: number;
  /** The longest time from the end of the headers to the end of the body. */
  readonly bodyMsMax: number;
  /** The longest time from the first byte (or the opening of the connection) to the end of the headers. */
  readonly headMsMax: number;
  /** The time for which a connection may stay open without a request. */
  readonly keepAliveMs: number;
  /**
   * The greatest number of requests that are in the pipeline at the same time. If this number is reached, the server turns the next request away
   * (D-97).
   */
  readonly requestsMax: number;
  /**
   * The greatest number of bytes of the bodies of all requests in the pipeline together. The request that exceeds this number is the last one that is
   * accepted.
   */
  readonly requestBytesMax: number;
  /** The greatest number of bytes of incomplete bodies that have arrived, on all connections together. */
  readonly arrivingBytesMax: number;
  /** The greatest number of requests that wait for other servers, and the greatest number of bytes of their bodies. */
  readonly waiting: Capacity;
  /** The greatest number of requests of one app that wait for other servers, and the greatest number of bytes of their bodies. */
  readonly waitingOfAppMax: Capacity;
  /** The greatest number of connections of clients. Above this number the server closes the connection that has waited longest for its client. */
  readonly connectionsMax: number;
  /** The greatest number of bytes of all connections together that are received and not read yet, or written and not taken by the client. */
  readonly connectionBytesMax: number;
}

export const defaultLimits: HttpLimits = {
  // The largest bodies of the interface, a batch of 50 requests or 50 events, stay well below 256 KiB.
  bodyBytesMax: 1_048_576,
  // Three tokens, a selection of fields and a cursor fit in 4 KiB; 16 KiB is what proxies commonly allow.
  headerBytesMax: 16_384,
  // 1 MiB in 10 s needs a line of 0.8 Mbit/s.
  bodyMsMax: 10_000,
  headMsMax: 10_000,
  // The server keeps idle connections longer than the 60 s of common load balancers, so that the load balancer closes an idle connection first, and
  // no request is lost.
  keepAliveMs: 65_000,
  // At 50 µs a request this is 0.05 s of work. With twice as many requests at a time each request costs some 5 % more, because caches hold less of
  // the requests' data.
  requestsMax: 1_024,
  // At 40 ns a byte, measured with 50 app events a request, this is 0.1 s of work; a parsed body takes some ten times its bytes.
  requestBytesMax: 2_097_152,
  // Slow senders can hold at most twice this memory. A body that comes with its head, as small bodies do, does not count.
  arrivingBytesMax: 33_554_432,
  // Each waiting request has a connection to another server for up to 10 s (D-61). A request to verify a callback has less than 1 KiB; a parsed body
  // takes some ten times its bytes.
  waiting: { count: 256, size: 4_194_304 },
  // An app may have a quarter of all waiting requests, so that only four misbehaving apps together can use up the capacity.
  waitingOfAppMax: { count: 64, size: 1_048_576 },
  // These connections take some 20 MB, as measured with idle connections. `connectionsWithin` lowers the number if the system allows few open files.
  connectionsMax: 8_192,
  // The limit is space for 8 KiB on every connection, and thousands of connections are idle.
  connectionBytesMax: 67_108_864,
};

/** The default limits with some of them changed. The memory for arriving bodies is always enough for several of the largest bodies. */
export function limitsOf(changed: Partial<HttpLimits>): HttpLimits {
  const limits = { ...defaultLimits, ...changed };
  const arrivingBytesMax = Math.max(limits.arrivingBytesMax, 4 * limits.bodyBytesMax);
  return { ...limits, arrivingBytesMax, connectionBytesMax: Math.max(limits.connectionBytesMax, 2 * arrivingBytesMax) };
}

/** Returns the larger limits of operations that take files. An operation is found by the edge at the end of the address. */
export function multipartLimits(endpoints: Registry["endpoints"]): Required<HttpLimits>["multipartBytesMaxFor"] {
  const byEdge = new Map<string, number>();
  for (const { served } of endpoints) {
    const { edge, multipartBytesMax } = served?.contract ?? {};
    if (edge != null && multipartBytesMax !== undefined) byEdge.set(edge, multipartBytesMax);
  }
  return (surface, path) => (surface === "base" ? byEdge.get(path.slice(path.lastIndexOf("/") + 1)) : undefined);
}

/**
 * The number of open files that are reserved for the database, the control API and requests to other servers: deliveries have at most 2,048
 * connections in use and 2,048 idle connections, handshakes have 256, and the control API has 256.
 */
const FILES_RESERVED = 4_864;

/**
 * The number of connections that clients may have. `filesMax` is the number of open files that the system allows the process. If the system allows
 * few open files, clients get half of them.
 */
export const connectionsWithin = (asked: number, filesMax: number): number =>
  Math.max(1, Math.min(asked, Math.max(filesMax - FILES_RESERVED, Math.floor(filesMax / 2))));

/** The number of files that a world in a data folder has open, which is some six. All worlds together get a quarter of the open files. */
const FILES_OF_WORLD = 6;

/** The number of worlds that may be open. `filesMax` is the number of open files that the system allows the process. */
export const worldsWithin = (asked: number, filesMax: number): number => Math.max(1, Math.min(asked, Math.floor(filesMax / 4 / FILES_OF_WORLD)));

/**
 * Above this size the HTTP parser refuses the head without reading it. A head between `headerBytesMax` and this size is parsed, and the pipeline
 * refuses the request in the error form of its endpoint.
 */
export const parserHeaderBytesMax = (limits: HttpLimits): number => Math.max(65_536, 2 * limits.headerBytesMax);

/**
 * The greatest number of bytes of the body of a request. Files in a form may be larger than other bodies, because files are not parsed. A parsed JSON
 * body takes some ten times its bytes.
 */
export function largestBody(
  { bodyBytesMax, multipartBytesMaxFor }: HttpLimits,
  { surface, path }: { readonly surface: SurfaceName; readonly path: string },
  contentType = "",
): number {
  const larger = multipartBytesMaxFor?.(surface, path) ?? 0;
  return larger > bodyBytesMax && /^multipart\/form-data\b/i.test(contentType) ? larger : bodyBytesMax;
}
