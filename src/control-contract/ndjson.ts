/** Makes responses with one JSON value per line. A response with one value per line may be larger than memory. */
import { ReadableStream } from "node:stream/web";

export const NDJSON = "application/x-ndjson";

/** Makes a response that takes the next lines from `lines` only when the client is ready for more. */
export const respondWithLines = (lines: AsyncGenerator<Uint8Array>): Response =>
  new Response(ReadableStream.from(lines), { headers: { "content-type": NDJSON } });
