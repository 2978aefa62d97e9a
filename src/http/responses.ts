/** Writes answers to a connection. */
import type { GraphResponse } from "#graph/pipeline/request";
import { realNowMs } from "#system";
import { CORS_HEADERS } from "./cors.ts";
import type { Connection } from "./http1/connection.ts";
import { reasonOf } from "./http1/reason-phrases.ts";

const CORS_LINES = linesOf(CORS_HEADERS);

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

/** Status line and headers up to and without the empty line; `isLast`: the connection ends with the response. */
export function headText(status: number, headers: Readonly<Record<string, string>>, isLast: boolean, isHttp10: boolean): string {
  const connection = isLast ? "connection: close\r\n" : isHttp10 ? "connection: keep-alive\r\n" : "";
  return `HTTP/1.1 ${status} ${reasonOf(status)}\r\n${linesOf(headers)}${CORS_LINES}${connection}date: ${httpDate(realNowMs())}\r\n`;
}

let dateSecond = 0;
let dateText = "";

/** RFC 9110, 5.6.7. Made once a second. */
function httpDate(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(nowMs).toUTCString();
  }
  return dateText;
}

/** RFC 9110, 8.6: neither 204 nor 304 has a length here; HEAD has that of the GET. */
export const hasContent = (status: number): boolean => status !== 204 && status !== 304;

export function writeResponse(connection: Connection, { status, headers, body }: GraphResponse, isHead: boolean): void {
  const { isLast, isHttp10 } = connection;
  let text = headText(status, headers, isLast, isHttp10);
  let size: number;
  if (hasContent(status)) {
    const bodySize = Buffer.byteLength(body);
    text += `content-length: ${bodySize}\r\n\r\n`;
    size = text.length;
    if (!isHead) {
      text += body;
      size += bodySize;
    }
  } else {
    text += "\r\n";
    size = text.length;
  }
  connection.writeText(text, size);
  connection.responded(isLast);
}

/** For what was no request, after which the connection ends. */
export const lastResponse = ({ status, headers, body }: GraphResponse): string =>
  `${headText(status, headers, true, false)}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
