import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { Certificate } from "#config/certificate";
import { receiverCertificate, receiverKey, renewedCertificate, renewedKey, rsaCertificate, rsaKey } from "#harness/certificates";
import { type Echo, type EchoGraph, serveEcho } from "#harness/echo-graph";
import { exchange } from "#harness/http/raw-http";
import type { HttpLimits } from "./limits.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

interface Served {
  readonly graph: EchoGraph;
  readonly problems: string[];
  /** Writes the files of a new certificate, and makes the server read them. */
  renew(cert: string, key: string): void;
}

async function serve(limits: Partial<HttpLimits> = {}, hstsSeconds = 0): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "plaza-tls-"));
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const write = (cert: string, key: string): void => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  write(receiverCertificate, receiverKey);
  const certificate = new Certificate(certFile, keyFile);
  const graph = await serveEcho({ certificate, limits, hstsSeconds });
  closings.push(
    () => rmSync(folder, { recursive: true }),
    () => graph.stop(0),
  );
  const problems: string[] = [];
  const renew = (cert: string, key: string): void => {
    write(cert, key);
    certificate.check({ renewed: () => {}, unusable: (problem) => problems.push(problem) });
  };
  return { graph, problems, renew };
}

const commonNames = { before: "receiver.example", after: "renewed.example" };

async function open(port: number, protocols: readonly string[] = []): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: [...protocols] });
  closings.push(() => socket.destroy());
  await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  return socket;
}

const nameOn = (socket: TLSSocket): string => String(socket.getPeerCertificate().subject.CN);

/** Sends a request on a connection, and returns the status of the next response. */
function ask(socket: TLSSocket, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const take = (part: Buffer): void => {
      text += part.toString("latin1");
      const [head, body] = text.split("\r\n\r\n", 2);
      const length = /content-length: (\d+)/i.exec(head ?? "")?.[1];
      if (body === undefined || length === undefined || body.length < Number(length)) return;
      socket.off("data", take);
      resolve(Number(text.split(" ")[1]));
    };
    socket.on("data", take);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: graph.test\r\n\r\n`);
  });
}

describe("TLS", () => {
  test("RFC 7301: the server chooses HTTP/1.1 from the protocols of a client", async () => {
    const { graph } = await serve();
    expect((await open(graph.port, ["h2", "http/1.1"])).alpnProtocol).toBe("http/1.1");
  });

  test("D-353: TLS 1.2 has only key exchanges with forward secrecy, and TLS 1.3 works", async () => {
    const { graph, renew } = await serve();
    renew(rsaCertificate, rsaKey);
    const handshake = (options: { readonly ciphers?: string; readonly maxVersion: "TLSv1.2" | "TLSv1.3" }): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host: "127.0.0.1", port: graph.port, rejectUnauthorized: false, ...options });
        closings.push(() => socket.destroy());
        socket.once("secureConnect", () => resolve(socket.getCipher().name));
        socket.once("error", () => resolve("refused"));
      });
    for (const ciphers of ["AES128-GCM-SHA256", "AES128-SHA"]) expect(await handshake({ ciphers, maxVersion: "TLSv1.2" })).toBe("refused");
    const ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
    expect(await handshake({ ciphers, maxVersion: "TLSv1.2" })).toBe(ciphers);
    expect(await handshake({ maxVersion: "TLSv1.3" })).toStartWith("TLS_");
  });

  test("D-353: browsers are told to use TLS only where the operator says for how long", async () => {
    const get = "GET /1 HTTP/1.1\r\nHost: graph.test\r\nConnection: close\r\n\r\n";
    const of = async ({ graph }: Served) => (await exchange(graph.port, [get], { isTls: true })).responses[0]?.headers["strict-transport-security"];
    expect([await of(await serve()), await of(await serve({}, 31_536_000))]).toEqual([undefined, "max-age=31536000"]);
  });

  test("links begin with https", async () => {
    const { graph } = await serve();
    const [response] = (await exchange(graph.port, ["GET /app/v26.0/1 HTTP/1.1\r\nHost: graph.test\r\n\r\n"], { isTls: true })).responses;
    expect(JSON.parse(response?.body ?? "") as Echo).toMatchObject({ path: "/v26.0/1", baseUrl: "https://graph.test/app" });
  });

  test("bodies: with a length, in chunks, after 100 Continue, and several requests on one connection", async () => {
    const { graph } = await serve();
    const post = (headers: string, body: string): string =>
      `POST /1 HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n${headers}\r\n${body}`;
    const parts = [
      post("Content-Length: 3\r\n", "a=1"),
      post("Transfer-Encoding: chunked\r\n", "2\r\na=\r\n1\r\n1\r\n0\r\n\r\n"),
      post("Content-Length: 3\r\nExpect: 100-continue\r\n", ""),
      "a=1",
    ];
    const { responses, text } = await exchange(graph.port, parts, { isTls: true, responses: 3, gapMs: 50, awaits: "100 Continue" });
    expect(responses.map(({ status, body }) => [status, (JSON.parse(body) as Echo).body])).toEqual(new Array(3).fill([200, { a: "1" }]));
    expect(text).toContain("HTTP/1.1 100 Continue");
  });

  test("a response that a client reads slowly arrives completely", async () => {
    const { graph } = await serve({ headerBytesMax: 60_000 });
    const socket = await open(graph.port);
    socket.pause();
    const query = "x".repeat(50_000);
    for (let request = 0; request < 40; request++) socket.write(`GET /1?q=${query} HTTP/1.1\r\nHost: h\r\n\r\n`);
    let text = "";
    await new Promise<void>((resolve) => {
      socket.on("data", (part) => {
        text += part;
        if (text.split("HTTP/1.1 200").length === 41 && text.endsWith("}")) resolve();
      });
      socket.resume();
    });
    expect(text.split(query).length - 1).toBe(80);
  });

  test("a renewed certificate is served to new connections, and open ones continue", async () => {
    const { graph, renew, problems } = await serve();
    const before = await open(graph.port);
    expect(await ask(before, "/1")).toBe(200);
    renew(renewedCertificate, renewedKey);
    const after = await open(graph.port);
    expect([nameOn(before), nameOn(after)]).toEqual([commonNames.before, commonNames.after]);
    expect([await ask(before, "/2"), await ask(after, "/3")]).toEqual([200, 200]);
    expect(problems).toEqual([]);
  });

  test("while certificates are renewed, no request of many connections is lost", async () => {
    const { graph, renew } = await serve();
    const seen = new Set<string>();
    const work = async (): Promise<void> => {
      for (let connection = 0; connection < 10; connection++) {
        const socket = await open(graph.port);
        seen.add(nameOn(socket));
        for (let request = 0; request < 5; request++) expect(await ask(socket, `/${request}`)).toBe(200);
        socket.destroy();
        if (connection % 2 === 0) renew(renewedCertificate, renewedKey);
        else renew(receiverCertificate, receiverKey);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect([...seen].sort()).toEqual([commonNames.before, commonNames.after]);
  });

  test("files that do not match, or are not certificates, do not change the certificate, and are reported once", async () => {
    const { graph, renew, problems } = await serve();
    renew(renewedCertificate, receiverKey);
    renew(renewedCertificate, receiverKey);
    renew("half a certif", renewedKey);
    expect(nameOn(await open(graph.port))).toBe(commonNames.before);
    expect(problems.map((problem) => problem.replace(/\S*(cert|key)\.pem/g, "$1.pem"))).toEqual([
      "--tls-key: key.pem is not the key of the certificate in cert.pem",
      "--tls-cert: cert.pem contains no certificate in PEM",
    ]);
    renew(renewedCertificate, renewedKey);
    expect(nameOn(await open(graph.port))).toBe(commonNames.after);
  });

  test("bytes that are not TLS end only their own connection", async () => {
    const { graph } = await serve();
    const socket = connectPlain(graph.port, "127.0.0.1");
    // The test ignores the error of the socket, because it checks that the socket closes.
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    await closed;
    expect(await ask(await open(graph.port), "/1")).toBe(200);
  });

  test("a handshake or a head that does not arrive in time ends its connection, an idle one stays", async () => {
    const { graph } = await serve({ headMsMax: 300, keepAliveMs: 60_000 });
    const idle = await open(graph.port);
    expect(await ask(idle, "/1")).toBe(200);
    const silent = connectPlain(graph.port, "127.0.0.1");
    silent.on("error", () => {});
    const ended = new Promise((resolve) => silent.once("close", resolve));
    const unfinished = await exchange(graph.port, ["GET /1 HTT"], { isTls: true });
    expect(unfinished.responses[0]?.status).toBe(408);
    await ended;
    expect(await ask(idle, "/2")).toBe(200);
  });

  test("a stopping server responds to running requests and accepts no more", async () => {
    const { graph } = await serve();
    const idle = await open(graph.port);
    expect(await ask(idle, "/1")).toBe(200);
    const ended = new Promise((resolve) => idle.once("close", resolve));
    await graph.stop(1_000);
    await ended;
    await expect(open(graph.port)).rejects.toThrow("ECONNREFUSED");
  });
});
