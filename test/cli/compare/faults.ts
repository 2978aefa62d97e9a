/** Servers that each have one deliberate fault: a proxy in front of a correct server damages its requests or responses. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { send } from "#conformance/http/wire";

interface Asked {
  readonly method: string;
  /** The address of the request, which a fault may change. */
  readonly url: URL;
  readonly headers: Headers;
}

// biome-ignore lint/suspicious/noExplicitAny: a fault damages any JSON.
type Json = any;

export interface Fault {
  readonly name: string;
  /** The clause that the fault breaks. */
  readonly clause: string;
  /** Damages the request, or returns a response instead of the server's response. */
  asked?(request: Asked): { readonly status: number; readonly text: string } | undefined;
  /** Damages the body of a JSON response. The function may return another status for the response. */
  responded?(body: Json, request: Asked, status: number): number | undefined;
}

const isList = (body: Json): boolean => Array.isArray(body?.data);
const ofPath = ({ url }: Asked, end: string): boolean => url.pathname.endsWith(end);

export const faults: readonly Fault[] = [
  { name: "lists without a link to the next page", clause: "LIST-8", responded: (body) => void (isList(body) && delete body.paging?.next) },
  { name: "a limit that is ignored", clause: "A1-8", asked: ({ url }) => void url.searchParams.delete("limit") },
  { name: "unknown fields that are ignored", clause: "A1-5", asked: ({ url }) => void url.searchParams.delete("fields") },
  {
    name: "items with a key more",
    clause: "A7-7",
    responded(body, request) {
      if (isList(body) && ofPath(request, "/personas")) for (const item of body.data) item.created_time = 1;
      return undefined;
    },
  },
  {
    name: "page messaging with one token in one place",
    clause: "AUTH-1",
    asked({ url, headers }) {
      const token =
        url.searchParams.get("access_token") ?? url.searchParams.get("oauth_token") ?? headers.get("authorization")?.slice("Bearer ".length);
      if (token === undefined || token === "" || !/custom_labels|personas|\/label$/.test(url.pathname)) return undefined;
      for (const name of ["access_token", "oauth_token"]) if (!url.searchParams.has(name)) url.searchParams.set(name, token);
      if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
      return undefined;
    },
  },
  {
    name: "errors that are wrapped although they must be flat",
    clause: "ERR-1",
    responded(body) {
      if (typeof body?.code !== "number") return undefined;
      const error = { ...body };
      for (const key of Object.keys(body)) delete body[key];
      body.error = error;
      return undefined;
    },
  },
  {
    name: "a deletion that deletes nothing",
    clause: "A4-1",
    asked: (request) =>
      request.method === "DELETE" && /\/v26\.0\/\d+$/.test(request.url.pathname) ? { status: 200, text: '{"success":true}' } : undefined,
  },
  {
    name: "ids of required actions as text",
    clause: "B1-2",
    responded(body, request) {
      if (ofPath(request, "/required_actions")) for (const item of body.required_action ?? []) item.id = String(item.id);
      return undefined;
    },
  },
  { name: "400 for an unknown migration intent", clause: "ERR-25", responded: (_body, _request, status) => (status === 404 ? 400 : undefined) },
  {
    name: "versions that were never released",
    clause: "VER-1b",
    asked: ({ url }) => {
      url.pathname = url.pathname.replace(/^\/v(99|27|19)\.0\//, "/v26.0/");
      return undefined;
    },
  },
];

/** The limit of a request's head is high, because some cases send tokens of 10,000 characters. */
const HEAD_BYTES_MAX = 262_144;

/** Starts a proxy with the fault in front of the server at `origin`. */
export async function wrongly(origin: string, fault: Fault | undefined): Promise<{ readonly origin: string; stop(): void }> {
  const proxy = createServer({ maxHeaderSize: HEAD_BYTES_MAX }, async (request, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url = "/" } = request;
    const headers = new Headers(Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]));
    headers.delete("connection");
    const asked: Asked = { method, url: new URL(url, origin), headers };
    const instead = fault?.asked?.(asked);
    // The proxy passes on a request that the fault does not change byte for byte.
    const target = asked.url.href === new URL(url, origin).href ? url : asked.url.pathname + asked.url.search;
    const body = Buffer.concat(chunks);
    const received =
      instead === undefined
        ? await send({ method, origin, target, headers: [...headers], ...(body.length === 0 ? {} : { body }) })
        : { headers: new Map(), ...instead };
    const json: Json = received.text.startsWith("{") ? JSON.parse(received.text) : undefined;
    const status = (json === undefined ? undefined : fault?.responded?.(json, asked, received.status)) ?? received.status;
    for (const [name, value] of received.headers) if (name !== "content-length" && name !== "connection") outgoing.setHeader(name, value);
    outgoing.writeHead(status).end(json === undefined ? received.text : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    stop: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
