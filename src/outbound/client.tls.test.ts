import { afterEach, describe, expect, test } from "bun:test";
import { authority, receiverCertificate, receiverKey } from "#harness/certificates";
import type { CallbackRules } from "./address-rules.ts";
import { GuardedClient, type GuardedClientOptions } from "./client.ts";
import type { OutboundRequest } from "./request.ts";

const sandbox: CallbackRules = { isSandbox: true, allowed: [] };

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

function clientOf(options: GuardedClientOptions): GuardedClient {
  const client = new GuardedClient(options);
  closings.push(() => client.close());
  return client;
}

function serve(
  fetch: (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>,
  tls?: { key: string; cert: string },
): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls === undefined ? {} : { tls }) });
  closings.push(() => server.stop(true));
  return server.port as number;
}

const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: "GET",
  url,
  headers: {},
  deadlineMs: 2_000,
  responseBytesMax: 65_536,
  ...more,
});

const textOf = (response: { body: Buffer }): string => response.body.toString("utf8");

describe("TLS", () => {
  const tls = { key: receiverKey, cert: receiverCertificate };
  const allowed: CallbackRules = { isSandbox: false, allowed: ["127.0.0.0/8"] };

  test("the certificate is verified for the name, at the address that was checked", async () => {
    const port = serve((request) => new Response(request.headers.get("host")), tls);
    const client = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"], ca: authority });
    for (let request = 0; request < 3; request++)
      expect(textOf(await client.request(get(`https://receiver.example:${port}/`)))).toBe(`receiver.example:${port}`);
    expect(textOf(await client.request(get(`https://127.0.0.1:${port}/`)))).toBe(`127.0.0.1:${port}`);
  });

  test("a certificate for another name, or of an unknown authority, is refused, also where a connection to that address waits", async () => {
    const hits: string[] = [];
    const port = serve((request) => {
      hits.push(request.headers.get("host") ?? "");
      return new Response("ok");
    }, tls);
    const client = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"], ca: authority });
    await client.request(get(`https://receiver.example:${port}/`));
    await expect(client.request(get(`https://other.example:${port}/`))).rejects.toMatchObject({ kind: "tls" });
    await expect(client.request(get(`https://127.0.0.2:${port}/`))).rejects.toMatchObject({ name: "RequestFailed" });
    const stranger = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"] });
    await expect(stranger.request(get(`https://receiver.example:${port}/`))).rejects.toMatchObject({ kind: "tls" });
    await Bun.sleep(50);
    expect(hits).toEqual([`receiver.example:${port}`]);
  });

  test("https to a server without TLS fails", async () => {
    const port = serve(() => new Response("ok"));
    await expect(clientOf({ rules: sandbox }).request(get(`https://127.0.0.1:${port}/`))).rejects.toMatchObject({ name: "RequestFailed" });
  });
});
