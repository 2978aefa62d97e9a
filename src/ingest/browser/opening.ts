/** How a WebSocket begins (RFC 6455, 4.2): a request of HTTP/1.1, and its response. */
import { createHash } from "node:crypto";
import type { PageGuard } from "#kernel/page-guard";

/** Browsers send less than 2 KiB; cookies of other pages on the same host may come with them. */
const HEAD_BYTES_MAX = 16_384;
const HEAD_END = "\r\n\r\n";
/** As the application in the addresses of encoders. */
const PATH = "/live";
/** Section 1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export type Opened =
  | { readonly isOpen: true; readonly response: Uint8Array; readonly rest: Uint8Array }
  /** The connection ends after the response. */
  | { readonly isOpen: false; readonly response: Uint8Array };

export class Opening {
  readonly #pages: PageGuard | undefined;
  #bytes = Buffer.alloc(0);

  /** `pages`: which pages may send; undefined: all that have a key. */
  constructor(pages: PageGuard | undefined) {
    this.#pages = pages;
  }

  /** Undefined: the request is not complete. */
  read(bytes: Uint8Array): Opened | undefined {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const end = this.#bytes.indexOf(HEAD_END);
    if (end === -1 && this.#bytes.length <= HEAD_BYTES_MAX) return undefined;
    if (end === -1 || end > HEAD_BYTES_MAX) return refused(431, "Request Header Fields Too Large", "The request is too large");
    const [line = "", ...fields] = this.#bytes.toString("latin1", 0, end).split("\r\n");
    return this.#respond(line, headersOf(fields), this.#bytes.subarray(end + HEAD_END.length));
  }

  #respond(line: string, headers: ReadonlyMap<string, string>, rest: Uint8Array): Opened {
    const [method = "", target = "", version = ""] = line.split(" ");
    if (version !== "HTTP/1.1" || method !== "GET") return refused(405, "Method Not Allowed", "Only a WebSocket is served here", ["Allow: GET"]);
    if (target.split("?", 1)[0] !== PATH) return refused(404, "Not Found", `The path is ${PATH}`);
    const has = (name: string, word: string): boolean => headers.get(name)?.toLowerCase().split(/, ?/).includes(word) === true;
    const key = headers.get("sec-websocket-key");
    if (!has("connection", "upgrade") || !has("upgrade", "websocket") || !has("sec-websocket-version", "13") || key === undefined) {
      const wanted = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"];
      return refused(426, "Upgrade Required", "Only a WebSocket is served here", wanted);
    }
    const refusal = this.#pages?.refusalOf({ method, host: headers.get("host") ?? "", header: (name) => headers.get(name) });
    if (refusal !== undefined) return refused(403, "Forbidden", refusal);
    const accept = createHash("sha1").update(`${key}${GUID}`).digest("base64");
    const response = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    return { isOpen: true, response: Buffer.from(`${response.join("\r\n")}${HEAD_END}`), rest };
  }
}

function headersOf(fields: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(":");
    if (colon > 0) headers.set(field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim());
  }
  return headers;
}

function refused(status: number, words: string, text: string, further: readonly string[] = []): Opened {
  const body = Buffer.from(`${text}\n`);
  const head = [
    `HTTP/1.1 ${status} ${words}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${body.length}`,
    "Connection: close",
    ...further,
  ];
  return { isOpen: false, response: Buffer.concat([Buffer.from(`${head.join("\r\n")}${HEAD_END}`), body]) };
}
