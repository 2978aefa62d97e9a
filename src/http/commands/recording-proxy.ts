/**
 * A proxy in front of another server, for `plaza record`: it passes on requests and responses unchanged, and reports them. The proxy replaces only
 * the other server's address by its own address in responses, because a client that follows the link to a next page would otherwise bypass the proxy.
 */
import { type IncomingMessage, request as requestOverHttp } from "node:http";
import { request as requestOverHttps } from "node:https";
import { findHeader } from "#kernel/http-text/headers";
import type { PageGuard } from "#kernel/page-guard";
import type { RequestHead } from "../http1/request-head.ts";
import type { Listener } from "../listeners/listener.ts";
import { BODY_BYTES_MAX, type CommandResponse, type HeaderPairs, serveCommand } from "./command-server.ts";

export interface Exchange {
  readonly method: string;
  /** The path and query, as the client sent them. */
  readonly target: string;
  readonly requestHeaders: HeaderPairs;
  readonly requestBody: Buffer;
  readonly status: number;
  readonly responseHeaders: HeaderPairs;
  readonly responseBody: Buffer;
  /** The time at which the request was complete, in Unix ms. */
  readonly startedMs: number;
  readonly durationMs: number;
}

export interface RecordingProxyOptions {
  readonly host: string;
  /** The port to listen on. If the port is 0, the system picks a free port. */
  readonly port: number;
  /** The server to which the proxy passes requests on. */
  readonly upstream: URL;
  readonly pages: PageGuard;
  /** The proxy calls this function with each request that the upstream server has answered. */
  note(exchange: Exchange): void;
}

/**
 * Headers that apply to one connection only, so the proxy does not pass them on. Because `accept-encoding` is not passed on, responses arrive without
 * compression and can be read.
 */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "proxy-connection",
  "upgrade",
  "te",
  "accept-encoding",
]);

/** Starts the proxy. Throws if the proxy cannot listen at the address. */
export const recordingProxy = ({ host, port, pages, upstream, note }: RecordingProxyOptions): Listener =>
  serveCommand({
    ...{
      host,
      port,
      pages,
      refusal: "plaza record refuses requests for other hosts and from pages of other sites: allow them with --allow-host and --allow-origin",
    },
    handle: (head, body) => pass(head, body, upstream, note),
  });

async function pass(head: RequestHead, requestBody: Buffer, upstream: URL, note: (exchange: Exchange) => void): Promise<CommandResponse> {
  // The time is from the machine's clock, because a recording contains the duration of a request.
  const startedMs = Date.now();
  const { method, target: at, headers } = head;
  const target = at.text.startsWith("/") ? at.text : `${at.path}${at.queryText === "" ? "" : `?${at.queryText}`}`;
  const requestHeaders = passedOn(headers);
  const { status, raw, body: responseBody } = await ask(upstream, method, target, requestHeaders, requestBody);
  const responseHeaders = passedOn(raw);
  // The time is from the machine's clock, because a recording contains the duration of a request.
  const durationMs = Date.now() - startedMs;
  // The exchange is recorded before the client gets the response, so that the client's next request is recorded after this exchange.
  note({ method, target, requestHeaders, requestBody, status, responseHeaders, responseBody, startedMs, durationMs });
  const own = findHeader(headers, "host");
  const body = readdressed(responseBody, upstream, own);
  // A response to HEAD has no body, but its Content-Length is the length that the body would have.
  const isSent = method !== "HEAD";
  const readdressedHeaders = responseHeaders
    .filter(([name]) => !isSent || name.toLowerCase() !== "content-length")
    .map(([name, value]): [string, string] => [name, readdressed(Buffer.from(value, "latin1"), upstream, own).toString("latin1")]);
  return { status, headers: readdressedHeaders, body };
}

/**
 * Replaces the server's address by the proxy's address. In JSON a slash may be written `\/`, so the function also replaces the server's address in
 * this form. All other bytes of the response stay unchanged.
 */
function readdressed(bytes: Buffer, upstream: URL, host: string | undefined): Buffer {
  const base = upstream.href.replace(/\/$/, "");
  const [text, own] = [bytes.toString("latin1"), `http://${host}`];
  const escaped = (address: string): string => address.replaceAll("/", "\\/");
  const changed = [
    [base, own],
    [escaped(base), escaped(own)],
    // Only whole addresses are replaced: `http://localhost:4000` is not an address within `http://localhost:40001`.
  ].reduce((before, [from = "", to = ""]) => before.split(from).reduce((left, right) => left + (/^[\w.:-]/.test(right) ? from : to) + right), text);
  return changed === text ? bytes : Buffer.from(changed, "latin1");
}

interface Answer {
  readonly status: number;
  readonly raw: readonly string[];
  readonly body: Buffer;
}

/** Sends a request to the upstream server. Rejects with an error whose message contains the server's address. */
async function ask(upstream: URL, method: string, target: string, headers: HeaderPairs, body: Buffer): Promise<Answer> {
  const send = upstream.protocol === "https:" ? requestOverHttps : requestOverHttp;
  const own = headers.filter(([name]) => !["host", "content-length"].includes(name.toLowerCase()));
  const length: [string, string][] = body.length > 0 || method === "POST" ? [["Content-Length", String(body.length)]] : [];
  const path = `${upstream.pathname.replace(/\/$/, "")}${target}`;
  const { hostname, port, host } = upstream;
  let received: Buffer | undefined;
  let response: IncomingMessage;
  try {
    response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = send({ hostname, port, method, path, headers: [["Host", host], ...own, ...length].flat() }, resolve);
      sent.once("error", reject);
      sent.end(body);
    });
    received = await bytesOf(response);
  } catch (error) {
    throw new Error(`${upstream.origin} did not respond: ${error instanceof Error ? error.message : error}`);
  }
  if (received === undefined) throw new Error(`the response of ${upstream.origin} has a body of more than ${BODY_BYTES_MAX} bytes`);
  return { status: response.statusCode ?? 0, raw: response.rawHeaders, body: received };
}

function passedOn(raw: readonly string[]): HeaderPairs {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [string, string] => [raw[2 * at] as string, raw[2 * at + 1] as string]);
  return pairs.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));
}

/** Reads a whole response body. Returns undefined if the body has more than `BODY_BYTES_MAX` bytes. */
async function bytesOf(stream: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += (chunk as Buffer).length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
