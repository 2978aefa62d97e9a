/**
 * Calls by way of a forward proxy, for networks where nothing else leads out. The proxy is given the checked address, never
 * the name, so that it cannot be led elsewhere; the certificate is verified for the name all the same.
 */
import type { CallbackTarget } from "./callback-address.ts";
import type { OutboundAnswer, OutboundCall } from "./outbound-call.ts";
import { CallFailed, type EndpointTls } from "./outbound-connection.ts";

export async function callByProxy(
  proxy: string,
  target: CallbackTarget,
  address: string,
  tls: EndpointTls | undefined,
  call: OutboundCall,
  leftMs: number,
): Promise<OutboundAnswer> {
  const host = address.includes(":") ? `[${address}]` : address;
  const url = `${target.isTls ? "https" : "http"}://${host}:${target.port}${target.path}`;
  try {
    const response = await fetch(url, {
      method: call.method,
      headers: { ...call.headers, Host: target.authority },
      ...(call.body === undefined ? {} : { body: call.body }),
      proxy,
      redirect: "manual",
      // What is counted and kept is what was sent.
      decompress: false,
      keepalive: false,
      // timer: a receiver's time to answer is real time.
      signal: AbortSignal.timeout(Math.max(1, Math.ceil(leftMs))),
      ...(tls === undefined
        ? {}
        : { tls: { ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }), ...(tls.ca === undefined ? {} : { ca: tls.ca }) } }),
    });
    return { status: response.status, ...(await readStart(response, call)) };
  } catch (error) {
    throw failureOf(error);
  }
}

async function readStart(response: Response, { answerBytesMax, takeBody }: OutboundCall): Promise<{ body: Buffer; isCut: boolean }> {
  const parts: Uint8Array[] = [];
  const isTaken = takeBody !== undefined && response.status === 200;
  let room = answerBytesMax;
  let isCut = false;
  const reader = response.body?.getReader();
  while (reader !== undefined && !isCut) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.length > room) isCut = true;
    const part = value.subarray(0, room);
    if (isTaken) await takeBody(Buffer.from(part));
    else parts.push(part);
    room -= Math.min(room, value.length);
  }
  if (isCut) await reader?.cancel();
  return { body: Buffer.concat(parts), isCut };
}

function failureOf(error: unknown): CallFailed {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  const problem = message ?? String(error);
  if (name === "TimeoutError" || name === "AbortError") return new CallFailed("timeout", "no whole answer came in time");
  if (code !== undefined && /TLS|CERT|SSL|VERIFY/.test(code)) return new CallFailed("tls", `the certificate is not valid: ${code}`);
  if (code === "ConnectionRefused" || code === "FailedToOpenSocket") return new CallFailed("connect", problem);
  return new CallFailed("closed", problem);
}
