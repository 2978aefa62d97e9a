/**
 * A receiver in a process of its own, that shares nothing with the program: it answers handshakes, checks both signatures of
 * whatever comes (the one of Standard Webhooks with that project's own package), and tells what came.
 *
 *     bun receiver-process.ts '{"/1001": "the secret of the app whose webhooks come below /1001"}'
 *
 * `GET /received` answers the list and empties it; `GET /waiting?count=n` waits for so many.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

export interface Arrived {
  readonly path: string;
  readonly webhookId: string;
  readonly isSignedForPlatform: boolean;
  readonly isSignedForStandard: boolean;
  readonly isAscii: boolean;
  readonly body: unknown;
}

const secrets = JSON.parse(process.argv[2] ?? "{}") as Record<string, string>;
const arrived: Arrived[] = [];
let handshakes: { path: string; verifyToken: string | null }[] = [];
const whenMore: (() => void)[] = [];

function secretOf(path: string): string {
  const owner = Object.keys(secrets).find((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  if (owner === undefined) throw new Error(`nobody owns ${path}`);
  return secrets[owner] as string;
}

function isSignedForPlatform(secret: string, bytes: Buffer, headers: IncomingHttpHeaders): boolean {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`);
  const given = Buffer.from(String(headers["x-hub-signature-256"]));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isSignedForStandard(secret: string, bytes: Buffer, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(`whsec_${Buffer.from(secret, "utf8").toString("base64")}`).verify(bytes.toString("latin1"), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function take(path: string, bytes: Buffer, headers: IncomingHttpHeaders): void {
  const secret = secretOf(path);
  arrived.push({
    path,
    webhookId: String(headers["webhook-id"]),
    isSignedForPlatform: isSignedForPlatform(secret, bytes, headers),
    isSignedForStandard: isSignedForStandard(secret, bytes, headers),
    isAscii: bytes.every((byte) => byte < 128),
    body: JSON.parse(bytes.toString("utf8")),
  });
  for (const wake of whenMore.splice(0)) wake();
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
  if (request.method === "POST") {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      take(pathname, Buffer.concat(chunks), request.headers);
      response.end("ok");
    });
    return;
  }
  if (pathname === "/received") {
    response.end(JSON.stringify({ arrived: arrived.splice(0), handshakes }));
    handshakes = [];
    return;
  }
  if (pathname === "/waiting") {
    const count = Number(searchParams.get("count"));
    const look = () => (arrived.length >= count ? response.end() : whenMore.push(look));
    look();
    return;
  }
  handshakes.push({ path: pathname, verifyToken: searchParams.get("hub.verify_token") });
  response.end(searchParams.get("hub.challenge"));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
