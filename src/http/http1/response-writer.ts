/** Writes the responses of one connection, each as a whole or as a stream. */
import type { RequestHead } from "./request-head.ts";
import type { Clock, SendBuffer } from "./send-buffer.ts";

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The reason phrase for each status. Programs read the status; only people read the phrase. */
const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  206: "Partial Content",
  304: "Not Modified",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  416: "Range Not Satisfiable",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Returns the reason phrase of a status. The reason phrase is empty for a status that is not in the list, as RFC 9112, 4 allows. */
const reasonOf = (status: number): string => reasons[status] ?? "";

/** Writes each header as a line with its line end. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

/** Returns the status line and the headers, without the empty line. `furtherLines` are header lines as `headerLines` returns them. */
export const responseHeadText = ({ status, headers }: ResponseHead, furtherLines: string, nowMs: number): string =>
  `HTTP/1.1 ${status} ${reasonOf(status)}\r\n${headerLines(headers)}${furtherLines}date: ${httpDate(nowMs)}\r\n`;

/**
 * Whether a response with this status may have a body and a length. RFC 9110, 8.6: responses 204 and 304 are sent without a length. A response to
 * HEAD has the length of the response to GET.
 */
export const hasContent = (status: number): boolean => status !== 204 && status !== 304;

let dateSecond = 0;
let dateText = "";

/** Returns the value of the header Date (RFC 9110, 5.6.7). The server formats the date once per second. */
function httpDate(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(nowMs).toUTCString();
  }
  return dateText;
}

export interface TextResponse extends ResponseHead {
  readonly body: string;
}

/** The source of a response body that is read part by part. */
export interface PartsReader {
  /** Reads the next part of the response body. At the end of the body the returned result has no value. */
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

export class ResponseWriter {
  readonly #sendBuffer: SendBuffer;
  readonly #clock: Clock;
  readonly #commonHeaderLines: string;
  /** Whether any byte of the current response was written. */
  hasBegun = false;
  /** Whether the last response has `Connection: close`. */
  isLast = false;

  constructor(sendBuffer: SendBuffer, clock: Clock, commonHeaderLines: string) {
    this.#sendBuffer = sendBuffer;
    this.#clock = clock;
    this.#commonHeaderLines = commonHeaderLines;
  }

  /**
   * Sends a whole response. `request` is undefined if its head could not be read. If the method of the request is HEAD, the body of the response is
   * not sent.
   */
  send(request: RequestHead | undefined, response: TextResponse, isLast: boolean): void {
    let text = this.#headText(request, response, isLast);
    let size: number;
    if (hasContent(response.status)) {
      const bodySize = Buffer.byteLength(response.body);
      text += `content-length: ${bodySize}\r\n\r\n`;
      size = text.length;
      if (request?.method !== "HEAD") {
        text += response.body;
        size += bodySize;
      }
    } else {
      text += "\r\n";
      size = text.length;
    }
    this.#sendBuffer.writeText(text, size);
  }

  async stream(
    request: RequestHead | undefined,
    response: ResponseHead,
    body: Pick<PartsReader, "read"> | undefined,
    isLast: boolean,
  ): Promise<void> {
    const hasLength = response.headers["content-length"] !== undefined;
    const mayHaveBody = request?.method !== "HEAD" && hasContent(response.status);
    const isChunked = mayHaveBody && body !== undefined && !hasLength && request?.isHttp10 !== true;
    // If the response has neither a length nor chunks, the client recognizes the end of the body only by the end of the connection.
    const isUntilEnd = mayHaveBody && body !== undefined && !hasLength && !isChunked;
    const isEmpty = mayHaveBody && body === undefined && !hasLength;
    const framing = isChunked ? "transfer-encoding: chunked\r\n" : isEmpty ? "content-length: 0\r\n" : "";
    const head = this.#headText(request, response, isLast || isUntilEnd);
    await this.#sendBuffer.writeBytes(Buffer.from(`${head}${framing}\r\n`, "latin1"));
    if (!mayHaveBody || body === undefined) return;
    for (;;) {
      const { value: part } = await body.read();
      if (this.#sendBuffer.isClosed) return;
      if (part === undefined) break;
      if (part.length > 0) await this.#sendBuffer.writeBytes(isChunked ? chunkOf(part) : part);
    }
    if (isChunked) await this.#sendBuffer.writeBytes(LAST_CHUNK);
  }

  #headText(request: RequestHead | undefined, response: ResponseHead, isLast: boolean): string {
    this.hasBegun = true;
    this.isLast = isLast;
    const connection = isLast ? "connection: close\r\n" : request?.isHttp10 === true ? "connection: keep-alive\r\n" : "";
    return responseHeadText(response, this.#commonHeaderLines + connection, this.#clock.nowMs());
  }
}

const chunkOf = (part: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
