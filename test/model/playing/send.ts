/** Sends what a step means, and keeps what came back. */
import type { GraphRequest } from "../reference/requests.ts";

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export async function send(address: string, { method, path, query, body, headers }: GraphRequest): Promise<Received> {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  const response = await fetch(`${address}${path}${text === "" ? "" : `?${text}`}`, {
    method,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { "content-type": body.kind === "json" ? "application/json" : "application/x-www-form-urlencoded" }),
    },
    ...(body === undefined
      ? {}
      : { body: body.kind === "json" ? JSON.stringify(body.fields) : new URLSearchParams(body.fields as Record<string, string>).toString() }),
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
