/**
 * A proxy in front of another server, for `plaza record`: hands requests and responses on as they are, and shows them. Only addresses of
 * that server become its own on the way to the client, which would leave it with the first link to a next page. It asks for responses
 * without compression, so that they can be read.
 */
import { createServer, type IncomingMessage, request as requestOverHttp, type ServerResponse } from "node:http";
import { request as requestOverHttps } from "node:https";
import type { AddressInfo } from "node:net";

export interface Exchange {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** In their order, names as they were sent. */
  readonly requestHeaders: readonly (readonly [string, string])[];
  readonly requestBody: Buffer;
  readonly status: number;
  readonly responseHeaders: readonly (readonly [string, string])[];
  readonly responseBody: Buffer;
  /** When the request was there, Unix ms. */
  readonly startedMs: number;
  readonly durationMs: number;
}

export interface RecordingProxy {
  readonly port: number;
  stop(): Promise<void>;
}

const BAD_GATEWAY = 502;
const PAYLOAD_TOO_LARGE = 413;
/** Far above what a server of the interface takes or returns. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const TOO_LARGE = `has a body of more than ${BODY_BYTES_MAX} bytes`;
/** Those of the connection, which each side has of its own. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "proxy-connection",
  "upgrade",
  "te",
  "accept-encoding",
]);

/** `note` is called with each exchange that the upstream server has answered. */
export async function recordingProxy(host: string, port: number, upstream: URL, note: (exchange: Exchange) => void): Promise<RecordingProxy> {
  const server = createServer((request, response) => {
    pass(request, response, upstream, note).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, BAD_GATEWAY, `${upstream.origin} did not respond: ${error instanceof Error ? error.message : error}`);
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain" }).end(message);
}

async function pass(request: IncomingMessage, response: ServerResponse, upstream: URL, note: (exchange: Exchange) => void): Promise<void> {
  // The machine's clock: how long an exchange took, for who reads the recording.
  const startedMs = Date.now();
  const target = request.url ?? "/";
  const requestHeaders = pairsOf(request.rawHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));
  const requestBody = await bytesOf(request);
  if (requestBody === undefined) return refuse(response, PAYLOAD_TOO_LARGE, `the request ${TOO_LARGE}`);
  const received = await ask(upstream, request.method ?? "GET", target, requestHeaders, requestBody);
  const responseHeaders = pairsOf(received.rawHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()));
  const responseBody = await bytesOf(received);
  if (responseBody === undefined) return refuse(response, BAD_GATEWAY, `the response of ${upstream.origin} ${TOO_LARGE}`);
  const status = received.statusCode ?? BAD_GATEWAY;
  // The machine's clock, as above.
  const durationMs = Date.now() - startedMs;
  // Before the client has its response: what it does next comes after it.
  note({ method: request.method ?? "GET", target, requestHeaders, requestBody, status, responseHeaders, responseBody, startedMs, durationMs });
  const handedOn = readdressed(responseBody, upstream, request.headers.host);
  const isOther = handedOn.length !== responseBody.length;
  const headers = responseHeaders.map(([name, value]): [string, string] => {
    if (isOther && name.toLowerCase() === "content-length") return [name, String(handedOn.length)];
    return [name, readdressed(Buffer.from(value, "latin1"), upstream, request.headers.host).toString("latin1")];
  });
  response.writeHead(status, headers.flat()).end(handedOn);
}

/** With the proxy's address in place of the server's, also where JSON has `\/` for a slash. What is no text stays byte for byte. */
function readdressed(bytes: Buffer, upstream: URL, host: string | undefined): Buffer {
  const base = upstream.href.replace(/\/$/, "");
  const [text, own] = [bytes.toString("latin1"), `http://${host}`];
  const escaped = (address: string): string => address.replaceAll("/", "\\/");
  const changed = [
    [base, own],
    [escaped(base), escaped(own)],
    // `http://localhost:4000` is no part of `http://localhost:40001`.
  ].reduce((before, [from = "", to = ""]) => before.split(from).reduce((left, right) => left + (/^[\w.:-]/.test(right) ? from : to) + right), text);
  return changed === text ? bytes : Buffer.from(changed, "latin1");
}

function ask(upstream: URL, method: string, target: string, headers: Exchange["requestHeaders"], body: Buffer): Promise<IncomingMessage> {
  const send = upstream.protocol === "https:" ? requestOverHttps : requestOverHttp;
  const own = headers.filter(([name]) => name.toLowerCase() !== "host" && name.toLowerCase() !== "content-length");
  const length: [string, string][] = body.length > 0 || method === "POST" ? [["Content-Length", String(body.length)]] : [];
  return new Promise((resolve, reject) => {
    const path = `${upstream.pathname.replace(/\/$/, "")}${target}`;
    const { hostname, port, host } = upstream;
    const sent = send({ hostname, port, method, path, headers: [["Host", host], ...own, ...length].flat() }, resolve);
    sent.once("error", reject);
    sent.end(body);
  });
}

const pairsOf = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] as string, raw[2 * at + 1] as string]);

/** Undefined: they are more than `BODY_BYTES_MAX`. */
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
