/** Writes an answer to the socket. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { GraphResponse } from "#graph/request";
import { CORS_HEADERS } from "./cors.ts";

export interface Writing {
  readonly isHead: boolean;
  /** The connection is not to be used again: what was left of the body is unread, or the server stops. */
  readonly isLast: boolean;
}

/** One flat list of names and values: it costs less than an object that is looked through again. */
export function headerList(answer: GraphResponse): string[] {
  const list = [...CORS_HEADERS];
  const { headers } = answer;
  for (const name in headers) list.push(name, headers[name] as string);
  // RFC 9110, 8.6: neither 204 nor 304 has one here; HEAD has that of the GET.
  if (answer.status !== 204 && answer.status !== 304) list.push("content-length", String(Buffer.byteLength(answer.body)));
  return list;
}

export function writeAnswer(response: ServerResponse, answer: GraphResponse, { isHead, isLast }: Writing): void {
  const list = headerList(answer);
  if (isLast) list.push("connection", "close");
  response.writeHead(answer.status, list);
  if (isHead || answer.status === 204 || answer.status === 304) response.end();
  else response.end(answer.body);
}

/** For a socket on which no HTTP could be read. */
export function rawAnswer(answer: GraphResponse): string {
  const list = headerList(answer);
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\nconnection: close\r\n`;
  for (let i = 0; i < list.length; i += 2) head += `${list[i]}: ${list[i + 1]}\r\n`;
  return `${head}\r\n${answer.body}`;
}
