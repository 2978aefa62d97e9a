/** Writes the responses of one connection: as a whole, or as a stream. */
import type { Clock } from "./clock.ts";
import type { RequestHead } from "./request-head.ts";
import { hasContent, type ResponseHead, responseHeadText } from "./response-head.ts";
import type { SendBuffer } from "./send-buffer.ts";

export interface TextResponse extends ResponseHead {
  readonly body: string;
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

export class ResponseWriter {
  readonly #sendBuffer: SendBuffer;
  readonly #clock: Clock;
  readonly #commonHeaderLines: string;
  /** Part of the current response has left. */
  hasBegun = false;
  /** The last response that was written said that the connection ends with it. */
  isLast = false;

  constructor(sendBuffer: SendBuffer, clock: Clock, commonHeaderLines: string) {
    this.#sendBuffer = sendBuffer;
    this.#clock = clock;
    this.#commonHeaderLines = commonHeaderLines;
  }

  /** `request` is undefined where there was none that could be read. The body of a response to HEAD is not sent. */
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

  /** The body is sent part by part, no faster than the client reads it. */
  async stream(
    request: RequestHead | undefined,
    response: ResponseHead,
    body: AsyncIterable<Uint8Array> | undefined,
    isLast: boolean,
  ): Promise<void> {
    const hasLength = response.headers["content-length"] !== undefined;
    const mayHaveBody = request?.method !== "HEAD" && hasContent(response.status);
    const isChunked = mayHaveBody && body !== undefined && !hasLength && request?.isHttp10 !== true;
    // Without a length and without chunks only the end of the connection says that the body is whole.
    const isUntilEnd = mayHaveBody && body !== undefined && !hasLength && !isChunked;
    const isEmpty = mayHaveBody && body === undefined && !hasLength;
    const framing = isChunked ? "transfer-encoding: chunked\r\n" : isEmpty ? "content-length: 0\r\n" : "";
    const head = this.#headText(request, response, isLast || isUntilEnd);
    await this.#sendBuffer.writeBytes(Buffer.from(`${head}${framing}\r\n`, "latin1"));
    if (!mayHaveBody || body === undefined) return;
    for await (const part of body) {
      if (this.#sendBuffer.isClosed) return;
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
