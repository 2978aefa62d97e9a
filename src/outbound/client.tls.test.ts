import { describe, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { authority, otherNameCertificate, otherNameKey, receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { clientOf, get, serve, textOf } from "#harness/outbound";
import type { CallbackRules } from "./address-rules.ts";

const sandbox: CallbackRules = { isSandbox: true, allowed: [] };

describe("TLS", () => {
  const tls = { key: receiverKey, cert: receiverCertificate };
  const allowed: CallbackRules = { isSandbox: false, allowed: ["127.0.0.0/8"] };

  test("the certificate is verified for the name, at the checked address", async () => {
    const port = serve((request) => new Response(request.headers.get("host")), tls);
    const client = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"], ca: authority });
    for (let request = 0; request < 3; request++)
      expect(textOf(await client.request(get(`https://receiver.example:${port}/`)))).toBe(`receiver.example:${port}`);
    expect(textOf(await client.request(get(`https://127.0.0.1:${port}/`)))).toBe(`127.0.0.1:${port}`);
  });

  test("a certificate for another name, or of an unknown authority, is refused, even if a connection to that address waits", async () => {
    const hits: string[] = [];
    const port = serve((request) => {
      hits.push(request.headers.get("host") ?? "");
      return new Response("ok");
    }, tls);
    const client = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"], ca: authority });
    await client.request(get(`https://receiver.example:${port}/`));
    await expect(client.request(get(`https://other.example:${port}/`))).rejects.toMatchObject({ kind: "tls" });
    const stranger = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"] });
    for (const host of ["receiver.example", "127.0.0.1"])
      await expect(stranger.request(get(`https://${host}:${port}/`))).rejects.toMatchObject({ kind: "tls" });
    // If the client had sent the refused requests, they would have arrived before the request that is sent last.
    await client.request(get(`https://receiver.example:${port}/`));
    expect(hits).toEqual([`receiver.example:${port}`, `receiver.example:${port}`]);
  });

  test("a certificate that does not name the address is refused there, and accepted for its own name", async () => {
    const other = { key: otherNameKey, cert: otherNameCertificate };
    const port = serve(() => new Response("ok"), other);
    const client = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"], ca: otherNameCertificate });
    expect(textOf(await client.request(get(`https://graph.example.com:${port}/`)))).toBe("ok");
    const refused = client.request(get(`https://127.0.0.1:${port}/`));
    await expect(refused).rejects.toMatchObject({ kind: "tls", message: expect.stringContaining("127.0.0.1 is not in the cert's list") });
  });

  test("a connection whose certificate is refused is closed, because nobody would use it", async () => {
    const closed = Promise.withResolvers<void>();
    const server = createServer(tls);
    server.on("connection", (socket) => socket.on("close", () => closed.resolve()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => {
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const stranger = clientOf({ rules: allowed, resolve: async () => ["127.0.0.1"] });
    await expect(stranger.request(get(`https://receiver.example:${port}/`))).rejects.toMatchObject({ kind: "tls" });
    await closed.promise;
  });

  test("https to a server without TLS fails", async () => {
    const port = serve(() => new Response("ok"));
    for (const host of ["127.0.0.1", "localhost"]) {
      const refused = clientOf({ rules: sandbox, resolve: async () => ["127.0.0.1"] }).request(get(`https://${host}:${port}/`));
      await expect(refused).rejects.toMatchObject({ kind: "tls", message: expect.stringContaining("the TLS handshake failed") });
    }
  });
});
