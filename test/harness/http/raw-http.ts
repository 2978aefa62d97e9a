/** A caller that does on a socket what no HTTP client does: it can be slow, send wrong bytes, or hang up. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

export interface RawResponse {
  readonly status: number;
  /** The response headers by their names in lower case. If a header is repeated, its last value counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  /** All bytes that came before either side closed the socket. */
  readonly text: string;
  readonly responses: readonly RawResponse[];
  readonly isClosedByServer: boolean;
  readonly durationMs: number;
}

export interface ExchangeOptions {
  /** The pause between two parts of the sent text, in milliseconds. */
  readonly gapMs?: number;
  /** The caller sends the last part once it has received this text. */
  readonly awaits?: string;
  /** The exchange ends when the caller has received this number of complete responses. */
  readonly responses?: number;
  /** The requests are HEAD requests, so their responses have a length and no body. */
  readonly isHead?: boolean;
  /** The time after which the exchange ends in any case. */
  readonly waitMs?: number;
  /** Connects over TLS and accepts any certificate. */
  readonly isTls?: boolean;
}

/** Sends the parts one after the other, and collects the bytes that the server sends. */
export function exchange(port: number, parts: readonly (string | Uint8Array)[], options: ExchangeOptions = {}): Promise<Exchange> {
  const { gapMs = 0, awaits, responses: responseCount = 1, isHead = false, waitMs = 5_000, isTls = false } = options;
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const socket = isTls ? connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false }) : connect(port, "127.0.0.1");
    let text = "";
    let isClosedByServer = true;
    const awaited = Promise.withResolvers<void>();
    const timer = setTimeout(() => end(), waitMs);
    const end = (): void => {
      isClosedByServer = false;
      socket.destroy();
    };
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (awaits !== undefined && text.includes(awaits)) awaited.resolve();
      if (respondsIn(text, isHead).length >= responseCount) end();
    });
    // An error only ends the exchange: the result has the bytes that arrived before the error.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve({ text, responses: respondsIn(text, isHead), isClosedByServer, durationMs: performance.now() - startedMs });
    });
    void sendParts(socket, parts.slice(0, -1), gapMs)
      .then(() => (awaits === undefined ? undefined : awaited.promise))
      .then(() => sendParts(socket, parts.slice(-1), 0));
  });
}

async function sendParts(socket: ReturnType<typeof connect>, parts: readonly (string | Uint8Array)[], gapMs: number): Promise<void> {
  for (const part of parts) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(typeof part === "string" ? Buffer.from(part, "latin1") : part);
    if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
}

/** The complete HTTP responses in a Latin-1 text. A response without a length has no body. */
function respondsIn(text: string, isHead: boolean): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  while (at < text.length) {
    const headEnd = text.indexOf("\r\n\r\n", at);
    if (headEnd === -1) break;
    const [statusLine = "", ...lines] = text.slice(at, headEnd).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const status = Number(statusLine.split(" ")[1]);
    const end = headEnd + 4 + (isHead ? 0 : Number(headers["content-length"] ?? 0));
    if (end > text.length) break;
    // An interim response (1xx) does not count as a response.
    if (status !== 100) responses.push({ status, headers, body: Buffer.from(text.slice(headEnd + 4, end), "latin1").toString("utf8") });
    at = end;
  }
  return responses;
}
