/**
 * Sends HTTP/1.1 requests as bytes on a socket. An ordinary client would correct what some cases send on purpose: repeated slashes, a broken percent
 * escape, a GET with a body, a header of 100 kB. Each request has a connection of its own.
 */
import net from "node:net";
import tls from "node:tls";

export interface WireRequest {
  readonly method: string;
  /** The scheme, host and port. The path and query are in `target`, which is sent unchanged. */
  readonly origin: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

export interface WireResponse {
  readonly status: number;
  /** The headers by name in lower case. The values of a repeated header are joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The time limit of a response, which is longer than any server takes for an ordinary request. */
const RESPONSE_WITHIN_MS = 20_000;
const BLANK_LINE = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

export function send(request: WireRequest, withinMs = RESPONSE_WITHIN_MS): Promise<WireResponse> {
  const { isSecure, host, port } = placeOf(request.origin);
  return new Promise((resolve, reject) => {
    const socket = isSecure ? tls.connect({ host, port, servername: host }) : net.connect({ host, port });
    let received: Buffer = Buffer.alloc(0);
    let isOver = false;
    const finish = (outcome: WireResponse | Error) => {
      if (isOver) return;
      isOver = true;
      socket.destroy();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    const noteEnd = (problem?: Error) => {
      // A server that refuses a request early may close the connection before it has read the whole request. The error of the write is ignored,
      // because the response of the server still counts.
      const response = parseResponse(received, request.method, true);
      finish(response ?? problem ?? new Error(`the connection ended without a response, after ${received.length} bytes`));
    };
    socket.setTimeout(withinMs, () => finish(new Error(`no response within ${withinMs} ms`)));
    socket.on(isSecure ? "secureConnect" : "connect", () => socket.write(bytesOf(request, new URL(request.origin).host)));
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = parseResponse(received, request.method, false);
      if (response !== undefined) finish(response);
    });
    socket.on("error", noteEnd);
    socket.on("end", () => noteEnd());
    socket.on("close", () => noteEnd());
  });
}

/** Checks that a server listens at the address, without sending bytes. Rejects if no server listens. */
export function expectListener(address: string): Promise<void> {
  const { host, port } = placeOf(address);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port }, () => {
      socket.destroy();
      resolve();
    });
    socket.setTimeout(RESPONSE_WITHIN_MS, () => socket.destroy(new Error(`no connection within ${RESPONSE_WITHIN_MS} ms`)));
    socket.on("error", reject);
  });
}

function placeOf(address: string): { readonly isSecure: boolean; readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === "https:";
  return { isSecure, host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? (isSecure ? 443 : 80) : Number(port) };
}

function bytesOf(request: WireRequest, host: string): Buffer {
  const given = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const lines = [`${request.method} ${request.target} HTTP/1.1`];
  if (!given.has("host")) lines.push(`Host: ${host}`);
  for (const [name, value] of request.headers) lines.push(`${name}: ${value}`);
  lines.push("Connection: close");
  const carriesBody = request.body !== undefined || request.method === "POST" || request.method === "PUT";
  if (carriesBody && !given.has("content-length") && !given.has("transfer-encoding")) lines.push(`Content-Length: ${request.body?.length ?? 0}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "utf8"), request.body ?? new Uint8Array()]);
}

/** Parses the response in `bytes`. Returns undefined while the response is not complete. */
function parseResponse(bytes: Buffer, method: string, isClosed: boolean): WireResponse | undefined {
  const headEnd = bytes.indexOf(BLANK_LINE);
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  const rest = bytes.subarray(headEnd + BLANK_LINE.length);
  if (status >= 100 && status < 200) return parseResponse(rest, method, isClosed);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  const body = method === "HEAD" || status === 204 || status === 304 ? Buffer.alloc(0) : bodyOf(rest, headers, isClosed);
  return body === undefined ? undefined : { status, headers, text: body.toString("utf8") };
}

function bodyOf(rest: Buffer, headers: ReadonlyMap<string, string>, isClosed: boolean): Buffer | undefined {
  if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return unchunk(rest) ?? (isClosed ? rest : undefined);
  const length = headers.get("content-length");
  if (length === undefined) return isClosed ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : isClosed ? rest : undefined;
}

function unchunk(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    if (size === 0) return Buffer.concat(chunks);
    const start = lineEnd + LINE_END.length;
    if (bytes.length < start + size + LINE_END.length) return undefined;
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + LINE_END.length;
  }
}
