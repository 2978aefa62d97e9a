/**
 * The listener of `plaza listen` and `plaza record`. The listener serves a request only if the request is addressed to one of the listener's own
 * hosts and, if a web page sent it, if this page is allowed (D-240).
 */
import { findHeader } from "#kernel/http-text/headers";
import type { PageGuard } from "#kernel/page-guard";
import type { Connection } from "../http1/connection.ts";
import type { RequestHead } from "../http1/request-head.ts";
import { hasContent, type PartsReader } from "../http1/response-writer.ts";
import { defaultLimits } from "../limits.ts";
import { type Listener, listen } from "../listeners/listener.ts";

/** The names and values of headers, in the order in which they were sent. */
export type HeaderPairs = readonly (readonly [string, string])[];

export interface CommandResponse {
  readonly status: number;
  readonly headers: HeaderPairs;
  readonly body: Buffer;
}

export interface CommandServerOptions {
  readonly host: string;
  /** The port to listen on. If the port is 0, the system picks a free port. */
  readonly port: number;
  readonly pages: PageGuard;
  /** The body of the response with the status 403, for a host or a web page that `pages` refuses. */
  readonly refusal: string;
  /** Responds to a request. If `handle` rejects, the client gets the status 502 with the message of the error. */
  handle(head: RequestHead, body: Buffer): Promise<CommandResponse>;
}

/**
 * The maximum number of bytes in the body or the head of a request, far above the largest request or response of the interface. D-304: the address of
 * a webhook's verification request may be as long as a body.
 */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
const FORBIDDEN = 403;
const PAYLOAD_TOO_LARGE = 413;
const BAD_REQUEST = 400;
const BAD_GATEWAY = 502;

export const plainText = (status: number, text: string): CommandResponse => ({
  ...{ status, headers: [["content-type", "text/plain; charset=utf-8"]], body: Buffer.from(text) },
});

/** Starts the listener. Throws if the listener cannot listen at the address. */
export function serveCommand(options: CommandServerOptions): Listener {
  const { host, port } = options;
  return listen({
    ...{ hostname: host, port, certificate: undefined, commonHeaders: {}, metrics: { open: 0, evicted: 0 } },
    // A few request bodies of the maximum size may arrive at the same time.
    limits: { ...defaultLimits, headBytesMax: BODY_BYTES_MAX, connectionBytesMax: 4 * BODY_BYTES_MAX },
    refusal: (problem) => ({
      status: BAD_REQUEST,
      headers: { "content-type": "text/plain" },
      body: `the request is not valid HTTP: ${problem.kind}`,
    }),
    dispatch: (head, connection) => void serve(options, head, connection),
  });
}

async function serve(options: CommandServerOptions, head: RequestHead, connection: Connection): Promise<void> {
  try {
    const { status, headers, body } = await responseTo(options, head, connection);
    const length: Record<string, string> = hasContent(status) ? { "content-length": String(body.length) } : {};
    await connection.stream({ status, headers: { ...length, ...joined(headers) } }, inOnePart(body));
    connection.finish();
  } catch {
    // The client closed the connection, or sent a request body that does not end.
    connection.abort();
  }
}

async function responseTo({ pages, refusal, handle }: CommandServerOptions, head: RequestHead, connection: Connection): Promise<CommandResponse> {
  const header = (name: string): string | undefined => findHeader(head.headers, name);
  if (pages.refusalOf({ method: head.method, host: head.host ?? "localhost", header }) !== undefined) return plainText(FORBIDDEN, refusal);
  const body = connection.receiveBody(BODY_BYTES_MAX) ?? (await connection.awaitBody(defaultLimits.keepAliveMs, () => true));
  if (body === "gone") throw new Error("the client has closed the connection");
  if ("problem" in body) {
    const isTooLarge = body.problem.kind === "body-too-large";
    return plainText(
      isTooLarge ? PAYLOAD_TOO_LARGE : BAD_REQUEST,
      isTooLarge ? `the request has a body of more than ${BODY_BYTES_MAX} bytes` : "the request body is not complete",
    );
  }
  try {
    return await handle(head, Buffer.from(body.bytes));
  } catch (error) {
    return plainText(BAD_GATEWAY, error instanceof Error ? error.message : String(error));
  }
}

/** Joins repeated headers into one header line, as RFC 9110, 5.3 allows. Each Set-Cookie header stays on a separate line. */
function joined(pairs: HeaderPairs): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [written, value] of pairs) {
    const name = written.toLowerCase();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}${name === "set-cookie" ? "\r\nset-cookie: " : ", "}${value}`;
  }
  return headers;
}

function inOnePart(body: Buffer): { getReader(): PartsReader } {
  let left: Buffer | undefined = body;
  const read = async () => {
    const value = left;
    left = undefined;
    return { value };
  };
  return { getReader: () => ({ read, cancel: async () => {} }) };
}
