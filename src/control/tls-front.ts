/**
 * TLS in front of the control API. The runtime's HTTP server cannot take another certificate while it listens; a server of
 * `node:tls` can. It passes what it decrypts to the HTTP server, over a Unix socket in a folder that only this user can open.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import type { Certificate } from "#config/certificate";

/** A client that does not finish its handshake holds a connection for this long. */
const HANDSHAKE_MS_MAX = 10_000;

/** Where the HTTP server listens. */
export interface UnixPlace {
  readonly socket: string;
  remove(): void;
}

export function unixPlace(): UnixPlace {
  const folder = mkdtempSync(join(tmpdir(), "plaza-control-"));
  return { socket: join(folder, "http.sock"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface TlsFront {
  readonly port: number;
  /** Accepts no more connections; those that are open stay. */
  close(): void;
}

/** Rejects when the address cannot be listened on. */
export async function listenWithTls(host: string, port: number, certificate: Certificate, unixSocket: string): Promise<TlsFront> {
  const pass = (client: TLSSocket): void => {
    const http = connect(unixSocket);
    // Whichever side ends or breaks first, the other one follows.
    pipeline(client, http, client, () => {});
  };
  const server = createServer({ ...certificate.current, handshakeTimeout: HANDSHAKE_MS_MAX, ALPNProtocols: ["http/1.1"] }, pass);
  // A handshake that failed, or did not come in time.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  certificate.onRenewed((pair) => server.setSecureContext(pair));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => resolve());
  });
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
