import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { exchange } from "#harness/http/raw-http";
import { type RedirectOptions, serveRedirects } from "./redirects.ts";

const ask = async (text: string, more: Partial<RedirectOptions> = {}) => {
  const server = serveRedirects({ hostname: "127.0.0.1", port: 0, reusePort: false, securePort: 4000, publicUrl: undefined, ...more });
  afterThisTest(() => server.stop(0));
  const [response] = (await exchange(server.port, [text])).responses;
  return { status: response?.status, location: response?.headers.location };
};

test("D-353: each request is sent to the same address with TLS, with its method and body", async () => {
  const post = "POST /v26.0/1?a=%20b HTTP/1.1\r\nHost: graph.test:80\r\nContent-Length: 3\r\n\r\na=1";
  expect(await ask(post)).toEqual({ status: 308, location: "https://graph.test:4000/v26.0/1?a=%20b" });
  expect(await ask(post, { securePort: 443 })).toEqual({ status: 308, location: "https://graph.test/v26.0/1?a=%20b" });
  expect(await ask(post, { publicUrl: "https://public.test/base" })).toEqual({ status: 308, location: "https://public.test/base/v26.0/1?a=%20b" });
  expect(await ask("GET / HTTP/1.0\r\n\r\n")).toEqual({ status: 308, location: "https://127.0.0.1:4000/" });
});

test("D-353: bytes that are not HTTP are refused", async () => {
  expect(await ask("GET / HTTP/1.1\r\n\r\n")).toEqual({ status: 400, location: undefined });
  expect(await ask("no request\r\n\r\n")).toEqual({ status: 400, location: undefined });
});
