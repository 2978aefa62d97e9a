/** Checks before a measurement that both servers send the same response. */
import type { LoadRequest } from "./load.ts";
import type { Server } from "./server.ts";

export interface Response {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

export async function ask(server: Server, request: LoadRequest, number = 0): Promise<Response> {
  const put = (text: string): string => text.replaceAll("{number}", String((request.number?.first ?? 0) + number).padStart(8, "0"));
  const response = await fetch(`http://127.0.0.1:${server.port}${put(request.target)}`, {
    method: request.method,
    headers: request.headers,
    ...(request.body === undefined ? {} : { body: put(request.body) }),
  });
  return { status: response.status, contentType: response.headers.get("content-type"), text: await response.text() };
}

/**
 * Throws unless both servers return status 200 and the same bytes. Cursors, addresses of the servers and new ids may differ, but not their lengths;
 * `masked` hides them.
 */
export async function checkSameResponse(one: Server, other: Server, request: LoadRequest): Promise<void> {
  const [first, second] = [await ask(one, request), await ask(other, request)];
  const both = `${one.name}: ${first.status} ${first.contentType} ${first.text}\n${other.name}: ${second.status} ${second.contentType} ${second.text}`;
  if (first.status !== 200 || second.status !== 200) throw new Error(`not both returned 200\n${both}`);
  const isSame =
    first.text.length === second.text.length &&
    first.contentType?.toLowerCase() === second.contentType?.toLowerCase() &&
    masked(first.text, one, request) === masked(second.text, other, request);
  if (!isSame) throw new Error(`the responses differ\n${both}`);
}

const masked = (text: string, server: Server, request: LoadRequest): string => {
  const same = text.replaceAll(String(server.port), "PORT").replace(/("(?:before|after)":"|&(?:before|after)=)[\w-]+/g, "$1CURSOR");
  return request.method === "POST" ? same.replace(/"id":"\d+"/, '"id":"MINTED"') : same;
};
