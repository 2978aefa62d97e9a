/**
 * Limits on the bytes that a client may send, and on the time in which the bytes must arrive. The configuration can change the default of each limit.
 */
import type { Registry } from "#graph/contract/registry";
import type { SurfaceName } from "#graph/pipeline/request";
import type { Capacity } from "#kernel/shares";

export interface HttpLimits {
  /** The maximum number of bytes in a request body. */
  readonly bodyBytesMax: number;
  /**
   * Returns a larger limit for bodies of multipart/form-data at one address. If the function returns undefined, `bodyBytesMax` applies. `path` is the
   * path after the surface's mount.
   */
  readonly multipartBytesMaxFor?: (surface: SurfaceName, path: string) => number | undefined;
  /** The maximum number of bytes of the address, the header names and the header values together. */
  readonly headerBytesMax: number;
  /** The maximum time from the end of a request's headers to the end of its body. */
  readonly bodyMsMax: number;
  /** The maximum time from the first byte of a request (or the opening of the connection) to the end of the request's headers. */
  readonly headMsMax: number;
  /** The time for which a connection may stay open without a request. */
  readonly keepAliveMs: number;
  /**
   * The maximum number of requests that are in the pipeline at the same time. If the maximum number of requests is reached, the server turns the next
   * request away (D-97).
   */
  readonly requestsMax: number;
  /**
   * The limit on the body bytes of all requests in the pipeline together. The server accepts the request that exceeds this limit, and then accepts no
   * further request until some of the requests have ended.
   */
  readonly requestBytesMax: number;
  /** The maximum number of bytes of incomplete bodies that have arrived, on all connections together. */
  readonly arrivingBytesMax: number;
  /** The maximum number of requests that wait for other servers, and the maximum number of bytes of their bodies. */
  readonly waiting: Capacity;
  /** The maximum number of requests of one app that wait for other servers, and the maximum number of bytes of their bodies. */
  readonly waitingOfAppMax: Capacity;
  /**
   * The maximum number of connections of clients. If more connections are open, the server closes the connection that has waited longest for its
   * client.
   */
  readonly connectionsMax: number;
  /** The maximum number of bytes on all connections together that are received and not yet read, or written and not yet accepted by the client. */
  readonly connectionBytesMax: number;
}

export const defaultLimits: HttpLimits = {
  // The largest bodies of the interface (a batch of 50 requests, or 50 events) are well below 256 KiB.
  bodyBytesMax: 1_048_576,
  // The address and the headers of a request with three tokens, a selection of fields and a cursor fit into 4 KiB; proxies commonly allow 16 KiB.
  headerBytesMax: 16_384,
  // A client that sends 0.8 Mbit/s needs 10 s for a body of 1 MiB.
  bodyMsMax: 10_000,
  headMsMax: 10_000,
  // The server keeps idle connections longer than the 60 s of common load balancers, so that the load balancer closes an idle connection first, and
  // no request is lost.
  keepAliveMs: 65_000,
  // A request takes some 50 µs, so 1,024 requests are 0.05 s of work. If twice as many requests run at a time, each request takes some 5 % longer,
  // because the processor's caches hold less of the requests' data.
  requestsMax: 1_024,
  // Request bodies of 2 MiB are 0.1 s of work, at 40 ns per byte (measured with requests of 50 app events). A parsed body takes some ten times its
  // bytes of memory.
  requestBytesMax: 2_097_152,
  // Slow senders can occupy at most 64 MiB of memory, which is twice the limit for incomplete bodies. A request body that arrives together with the
  // head, as small bodies do, does not count towards the limit.
  arrivingBytesMax: 33_554_432,
  // Each waiting request occupies a connection to another server for up to 10 s (D-61). A request to verify a callback has less than 1 KiB; a parsed
  // body takes some ten times its bytes of memory.
  waiting: { count: 256, size: 4_194_304 },
  // One app may have a quarter of all waiting requests, so four misbehaving apps are needed to use up the capacity.
  waitingOfAppMax: { count: 64, size: 1_048_576 },
  // 8,192 idle connections take some 20 MB (measured). `connectionsWithin` lowers the maximum number of connections if the system allows few open
  // files.
  connectionsMax: 8_192,
  // 64 MiB is 8 KiB for every connection, and most of the connections are idle.
  connectionBytesMax: 67_108_864,
};

/**
 * Returns the default limits with the given changes. The returned limit on the memory for arriving bodies is always enough for four bodies of the
 * maximum size.
 */
export function limitsOf(changed: Partial<HttpLimits>): HttpLimits {
  const limits = { ...defaultLimits, ...changed };
  const arrivingBytesMax = Math.max(limits.arrivingBytesMax, 4 * limits.bodyBytesMax);
  return { ...limits, arrivingBytesMax, connectionBytesMax: Math.max(limits.connectionBytesMax, 2 * arrivingBytesMax) };
}

/** Returns the larger limits of operations that accept files. The function finds an operation by the edge at the end of the address. */
export function multipartLimits(endpoints: Registry["endpoints"]): Required<HttpLimits>["multipartBytesMaxFor"] {
  const byEdge = new Map<string, number>();
  for (const { served } of endpoints) {
    const { edge, multipartBytesMax } = served?.contract ?? {};
    if (edge != null && multipartBytesMax !== undefined) byEdge.set(edge, multipartBytesMax);
  }
  return (surface, path) => (surface === "base" ? byEdge.get(path.slice(path.lastIndexOf("/") + 1)) : undefined);
}

/**
 * The number of open files that are reserved for the database, the control API and requests to other servers: webhook deliveries use at most 2,048
 * active and 2,048 idle connections, handshakes with receivers use 256, and the control API uses 256.
 */
const FILES_RESERVED = 4_864;

/**
 * Returns the number of connections that clients may have. `filesMax` is the number of open files that the system allows the process. If the system
 * allows few open files, clients get half of these files.
 */
export const connectionsWithin = (asked: number, filesMax: number): number =>
  Math.max(1, Math.min(asked, Math.max(filesMax - FILES_RESERVED, Math.floor(filesMax / 2))));

/** The number of files that an open world in a data folder uses. All worlds together may use a quarter of the open files. */
const FILES_OF_WORLD = 6;

/** Returns the number of worlds that may be open. `filesMax` is the number of open files that the system allows the process. */
export const worldsWithin = (asked: number, filesMax: number): number => Math.max(1, Math.min(asked, Math.floor(filesMax / 4 / FILES_OF_WORLD)));

/**
 * Returns the size above which the HTTP parser refuses a head without parsing it. A head that is larger than `headerBytesMax` and not larger than the
 * returned size is parsed, and the pipeline refuses the request in the error form of its endpoint.
 */
export const parserHeaderBytesMax = (limits: HttpLimits): number => Math.max(65_536, 2 * limits.headerBytesMax);

/**
 * Returns the maximum number of bytes of a request's body. Files in a form may be larger than other bodies, because files are not parsed. A parsed
 * JSON body takes some ten times its bytes of memory.
 */
export function largestBody(
  { bodyBytesMax, multipartBytesMaxFor }: HttpLimits,
  { surface, path }: { readonly surface: SurfaceName; readonly path: string },
  contentType = "",
): number {
  const larger = multipartBytesMaxFor?.(surface, path) ?? 0;
  return larger > bodyBytesMax && /^multipart\/form-data\b/i.test(contentType) ? larger : bodyBytesMax;
}
