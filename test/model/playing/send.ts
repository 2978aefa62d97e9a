/** Sends what a step means, and keeps what came back. */
import { itemOf } from "../reference/areas/uploads.ts";
import type { FeedFile, GraphRequest } from "../reference/requests.ts";

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** In no text of a history. */
const BOUNDARY = "boundary-of-the-histories";

const partOf = ([name, value]: [string, unknown]): string => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** CSV, or something else. */
export function textOf(rows: FeedFile["rows"]): string {
  if (rows === null) return "<html>no feed</html>";
  const names = ["retailer_id", "name", "image_url", "url", "brand"];
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return [names.join(","), ...rows.map(itemOf).map((item) => names.map((name) => cell(item[name] ?? "")).join(","))].join("\n");
}

const filePart = ({ filename, rows }: FeedFile): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: text/csv\r\n\r\n${textOf(rows)}\r\n`;

function writtenBody({ kind, fields, file }: NonNullable<GraphRequest["body"]>): { readonly type: string; readonly text: string } {
  switch (kind) {
    case "json":
      return { type: "application/json", text: JSON.stringify(fields) };
    case "form":
      return { type: "application/x-www-form-urlencoded", text: new URLSearchParams(fields as Record<string, string>).toString() };
    case "multipart":
      return {
        type: `multipart/form-data; boundary=${BOUNDARY}`,
        text: `${Object.entries(fields).map(partOf).join("")}${file === undefined ? "" : filePart(file)}--${BOUNDARY}--`,
      };
  }
}

export async function send(address: string, { method, path, query, body, headers }: GraphRequest): Promise<Received> {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  const written = body === undefined ? undefined : writtenBody(body);
  const response = await fetch(`${address}${path}${text === "" ? "" : `?${text}`}`, {
    method,
    headers: {
      ...headers,
      ...(written === undefined ? {} : { "content-type": written.type }),
    },
    ...(written === undefined ? {} : { body: written.text }),
  });
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
