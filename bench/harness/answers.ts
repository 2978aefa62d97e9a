/** Before anything is measured: both servers must answer the same. */
import type { Call } from "./load.ts";
import type { Server } from "./server.ts";

export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

export async function ask(server: Server, call: Call, number = 0): Promise<Answer> {
  const put = (text: string): string => text.replaceAll("{number}", String((call.number?.first ?? 0) + number).padStart(8, "0"));
  const response = await fetch(`http://127.0.0.1:${server.port}${put(call.target)}`, {
    method: call.method,
    headers: call.headers,
    ...(call.body === undefined ? {} : { body: put(call.body) }),
  });
  return { status: response.status, contentType: response.headers.get("content-type"), text: await response.text() };
}

/**
 * Throws unless both answer 200 with as many bytes, and the same ones but for cursors, addresses of the servers and minted
 * ids, which `masked` blots out.
 */
export async function checkSameAnswer(one: Server, other: Server, call: Call): Promise<void> {
  const [first, second] = [await ask(one, call), await ask(other, call)];
  const told = `${one.name}: ${first.status} ${first.contentType} ${first.text}\n${other.name}: ${second.status} ${second.contentType} ${second.text}`;
  if (first.status !== 200 || second.status !== 200) throw new Error(`not both answer 200\n${told}`);
  const isSame =
    first.text.length === second.text.length &&
    first.contentType?.toLowerCase() === second.contentType?.toLowerCase() &&
    masked(first.text, one, call) === masked(second.text, other, call);
  if (!isSame) throw new Error(`the answers differ\n${told}`);
}

const masked = (text: string, server: Server, call: Call): string => {
  const same = text.replaceAll(String(server.port), "PORT").replace(/("(?:before|after)":"|&(?:before|after)=)[\w-]+/g, "$1CURSOR");
  return call.method === "POST" ? same.replace(/"id":"\d+"/, '"id":"MINTED"') : same;
};
