/** Sends the request of a step, and returns the response. */
import { request } from "node:http";
import { itemOf } from "../reference/areas/uploads.ts";
import type { FeedFile, GraphRequest } from "../reference/requests.ts";

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The boundary of multipart bodies, which occurs in no text of a history. */
const BOUNDARY = "boundary-of-the-histories";

const partOf = ([name, value]: [string, string]): string => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** The text of a feed file: CSV, or a text that is not a feed file. */
export function textOf(rows: FeedFile["rows"]): string {
  if (rows === null) return "<html>no feed</html>";
  const names = ["retailer_id", "name", "image_url", "url", "brand"];
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return [names.join(","), ...rows.map(itemOf).map((item) => names.map((name) => cell(item[name] ?? "")).join(","))].join("\n");
}

const filePart = ({ filename, rows }: FeedFile): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: text/csv\r\n\r\n${textOf(rows)}\r\n`;

type Body = NonNullable<GraphRequest["body"]>;

/** The pairs of a form for a value, with names such as `a[b]` for nested values. For a list of objects, the brackets need numbers. */
function pairsIn(name: string, value: unknown, nesting: Body["nesting"]): [string, string][] {
  if (typeof value !== "object" || value === null) return [[name, String(value)]];
  if (!Array.isArray(value)) return Object.entries(value).flatMap(([key, inner]) => pairsIn(`${name}[${key}]`, inner, nesting));
  const isFlat = value.every((item) => typeof item === "string");
  const isRepeated = isFlat && nesting === "repeated" && !name.includes("[");
  return value.flatMap((item, place) => pairsIn(isRepeated ? name : `${name}[${isFlat && nesting === "[]" ? "" : place}]`, item, nesting));
}

const pairsOf = ({ fields, nesting }: Body): [string, string][] => Object.entries(fields).flatMap(([name, value]) => pairsIn(name, value, nesting));

export const FORM = "application/x-www-form-urlencoded";

export function writtenBody(body: Body): { readonly type: string; readonly text: string } {
  const { kind, fields, file } = body;
  switch (kind) {
    case "json":
      return { type: "application/json", text: JSON.stringify(fields) };
    case "form":
      return { type: FORM, text: new URLSearchParams(pairsOf(body)).toString() };
    case "multipart":
      return {
        type: `multipart/form-data; boundary=${BOUNDARY}`,
        text: `${pairsOf(body).map(partOf).join("")}${file === undefined ? "" : filePart(file)}--${BOUNDARY}--`,
      };
  }
}

/** Sends a GET with a body, which `fetch` does not do. */
async function getWithBody(url: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const asked = request(url, { method: "GET", headers: { ...headers, "content-length": Buffer.byteLength(body) } }, (response) => {
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => pieces.push(piece));
    response.on("error", reject);
    response.on("end", () => {
      const { statusCode: status = 0, headers: received } = response;
      resolve({ status, headers: received as Record<string, string>, body: parsed(Buffer.concat(pieces).toString()) });
    });
  });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}

export async function send(address: string, { method, path, query, body, headers: given }: GraphRequest): Promise<Received> {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  const url = `${address}${path}${text === "" ? "" : `?${text}`}`;
  const written = body === undefined ? undefined : writtenBody(body);
  const encoding = body?.isPacked === true ? { "content-encoding": "gzip" } : {};
  const headers = { ...given, ...(written === undefined ? {} : { "content-type": written.type }), ...encoding };
  const bytes = written === undefined ? undefined : body?.isPacked === true ? Bun.gzipSync(Buffer.from(written.text)) : written.text;
  if (method === "GET" && bytes !== undefined) return getWithBody(url, headers, bytes);
  const response = await fetch(url, { method, headers, ...(bytes === undefined ? {} : { body: bytes }) });
  const received = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed(received) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
