/** Sends a response with the damage that an injected fault requests (D-150). */
import { ReadableStream } from "node:stream/web";
import type { Damage, GraphResponse } from "#graph/pipeline/request";
import { sleepMs } from "#system";
import type { Connection } from "./http1/connection.ts";
import { hasContent } from "./http1/response-writer.ts";

/** The time between two parts of a response body that is sent slowly. */
const PART_EVERY_MS = 100;
/** The maximum time in which a slow response body is sent, so that a fault does not occupy a connection forever. */
const BODY_MS_MAX = 300_000;

export async function sendDamaged(connection: Connection, response: GraphResponse, damage: Damage): Promise<void> {
  const { reset, cut_body_at, body_bytes_per_second } = damage;
  if (reset === true && cut_body_at === undefined) {
    connection.abort();
    return;
  }
  const { status, headers } = response;
  if (!hasContent(status)) connection.send(response);
  else {
    const body = Buffer.from(response.body);
    const sent = body.subarray(0, cut_body_at);
    const parts = body_bytes_per_second === undefined ? [sent] : slowly(sent, body_bytes_per_second);
    await connection.stream({ status, headers: { ...headers, "content-length": String(body.length) } }, ReadableStream.from(parts));
  }
  if (reset === true) connection.abort();
  else if (cut_body_at === undefined) connection.finish();
  else connection.end();
}

async function* slowly(body: Uint8Array, bytesPerSecond: number): AsyncGenerator<Uint8Array> {
  const msMax = Math.min(BODY_MS_MAX, (body.length / bytesPerSecond) * 1_000);
  const size = Math.max(1, Math.ceil((body.length * PART_EVERY_MS) / msMax));
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    // The server pauses before each part of the body, so that the last byte is sent at the end of the planned time.
    await sleepMs(Math.min(BODY_MS_MAX, (part.length / body.length) * msMax));
    yield part;
  }
}
