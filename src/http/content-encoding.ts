/** D-330: reads request bodies that are compressed with gzip, because mobile libraries send such bodies. */
import { promisify } from "node:util";
import { bodyTooLarge, type GraphError, malformedRequest } from "#kernel/errors";
import { findHeader } from "#kernel/http-text/headers";
import type { RequestHead } from "./http1/request-head.ts";

/** The encoding of a request body; undefined if the server does not support the encoding. */
export type BodyEncoding = "identity" | "gzip" | undefined;

export function encodingOf({ headers, framing }: RequestHead): BodyEncoding {
  const named = framing === 0 ? "" : (findHeader(headers, "content-encoding")?.toLowerCase() ?? "");
  if (named === "" || named === "identity") return "identity";
  // RFC 9110, 8.4.1.3: `x-gzip` means the same as `gzip`.
  return named === "gzip" || named === "x-gzip" ? "gzip" : undefined;
}

export const unsupportedEncoding = ({ headers }: RequestHead): GraphError =>
  malformedRequest(
    `The Content-Encoding ${findHeader(headers, "content-encoding")} is not supported; send the body without compression or with gzip`,
  );

/**
 * A compressed body may have any compression ratio if its unpacked size is at most this limit. The largest bodies of the interface are much smaller
 * than the limit.
 */
const FREE_BYTES_MAX = 262_144;
/**
 * The maximum ratio between a body's unpacked and compressed size. Compression with gzip reduces ordinary JSON to about a tenth, repeated events to a
 * fiftieth, and one repeated letter to a thousandth of its size (measured).
 */
const RATIO_MAX = 100;

/**
 * Returns the unpacked size that gzip data state in their last four bytes (RFC 1952). The sender can write any number in these four bytes. Returns 0
 * for data that do not begin as gzip data begin; the server refuses such data later.
 */
export const statedBytes = (packed: Uint8Array): number =>
  packed.length < 4 || packed[0] !== 0x1f || packed[1] !== 0x8b
    ? 0
    : new DataView(packed.buffer, packed.byteOffset + packed.length - 4, 4).getUint32(0, true);

/** Loads the module for gzip when the first compressed body arrives, because loading it at the start would make the start about 5 % longer. */
const zlib = () => process.getBuiltinModule("node:zlib");

/** Unpacks a small compressed body at once, because the token in the body must be checked in this turn of the event loop. */
export function unpackedAtOnce(packed: Uint8Array, bytesMax: number): Uint8Array | GraphError {
  try {
    return zlib().gunzipSync(packed, { maxOutputLength: bytesMax });
  } catch (error) {
    return problemOf(error);
  }
}

const gunzipInThread = (packed: Uint8Array, given: { maxOutputLength: number }) =>
  promisify<Uint8Array, object, Uint8Array>(zlib().gunzip)(packed, given);

/**
 * Unpacks a compressed body in another thread. A compressed body whose stated size is too large is refused before it is unpacked. A compressed body
 * that is larger than its stated size is refused while it is unpacked.
 */
export async function unpacked(packed: Uint8Array, bytesMax: number): Promise<Uint8Array | GraphError> {
  const stated = statedBytes(packed);
  if (stated > bytesMax) return bodyTooLarge(bytesMax);
  if (stated > Math.max(FREE_BYTES_MAX, RATIO_MAX * packed.length))
    return malformedRequest(`The request body unpacks to more than ${RATIO_MAX} times its size; send it without compression`);
  try {
    return await gunzipInThread(packed, { maxOutputLength: Math.max(1, stated) });
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): GraphError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_BUFFER_TOO_LARGE")
    return malformedRequest("The gzip data of the request body is damaged: it unpacks to more bytes than the length at its end");
  if (code.startsWith("Z_")) return malformedRequest("The gzip data of the request body is damaged or not complete");
  throw error;
}
