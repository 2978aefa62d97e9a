/**
 * What accepts the connections of the control API, and passes them to the runtime's HTTP server over a Unix socket in a folder that only this
 * user can open. That server can neither limit its connections, nor take another certificate while it listens.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream";
import type { Certificate } from "#config/certificate";

/** A client that does not finish its handshake holds a connection for this long. */
const HANDSHAKE_MS_MAX = 10_000;
/** Scripts, dashboards and streams of one operator. Each takes three files of the process, which the graph and webhooks need as well. */
const CONNECTIONS_MAX = 256;

/** Of one connection; the runtime's own limit is 10. */
const LISTENERS_MAX = 20;

/** Where the HTTP server listens. */
export interface UnixPlace {
  readonly socket: string;
  remove(): void;
}

/** Of the path of a Unix socket, on the systems with the shortest (macOS). */
const PATH_BYTES_MAX = 103;

/** In the data folder, which this process has locked, so that a server that was killed leaves nothing that the next start does not remove. */
export function unixPlace(dataFolder: string | undefined): UnixPlace {
  const own = dataFolder === undefined ? undefined : resolve(dataFolder, "control.sock");
  if (own !== undefined && Buffer.byteLength(own) <= PATH_BYTES_MAX) {
    const remove = (): void => rmSync(own, { force: true });
    remove();
    return { socket: own, remove };
  }
  const folder = mkdtempSync(join(tmpdir(), "plaza-control-"));
  return { socket: join(folder, "http.sock"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  /** Of the HTTP server. */
  readonly unixSocket: string;
  /** Plain connections where it is undefined. */
  readonly certificate: Certificate | undefined;
  readonly connectionsMax?: number | undefined;
}

interface Front {
  readonly port: number;
  /** Accepts no more connections; those that are open stay. Resolves when none is left. */
  close(): Promise<void>;
}

/** Rejects when the address cannot be listened on. */
export async function listenInFront({ host, port, unixSocket, certificate, connectionsMax = CONNECTIONS_MAX }: FrontOptions): Promise<Front> {
  const connections = new Connections(connectionsMax);
  const pass = (client: Socket): void => {
    // A pipeline through a TLS socket has eleven listeners for its end, of which the runtime would warn on stderr.
    client.setMaxListeners(LISTENERS_MAX);
    const http = connect(unixSocket);
    // The HTTP server has stopped, while this client's handshake was under way: a pipeline would throw.
    if (http.destroyed) {
      http.on("error", () => client.destroy());
      return;
    }
    http.on("data", () => connections.waits(client));
    // Whichever side ends or breaks first, the other one follows.
    pipeline(client, http, client, () => {});
  };
  const server = certificate === undefined ? createServer(pass) : await secureServer(certificate, pass);
  server.on("connection", (client: Socket) => connections.opened(client));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => resolve());
  });
  return { port: (server.address() as AddressInfo).port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Loaded only with a certificate: a start does not wait for what it does not use. */
async function secureServer(certificate: Certificate, pass: (client: Socket) => void): Promise<Server> {
  const { createServer: createSecure } = await import("node:tls");
  const server = createSecure({ ...certificate.current, handshakeTimeout: HANDSHAKE_MS_MAX, ALPNProtocols: ["http/1.1"] }, pass);
  // A handshake that failed, or did not come in time.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  certificate.onRenewed((pair) => server.setSecureContext(pair));
  return server;
}

/** Those that are open, so that there are never too many: of more, the one that has waited longest for its client is closed. */
class Connections {
  readonly #open = new Set<Socket>();
  /** No request of theirs runs, the longest first: they are new, or have had their response. */
  readonly #idle = new Set<Socket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  opened(client: Socket): void {
    this.#open.add(client);
    this.#idle.add(client);
    client.on("data", () => this.#idle.delete(client));
    client.once("close", () => {
      this.#open.delete(client);
      this.#idle.delete(client);
    });
    // It is the new one itself where a request runs on every other.
    if (this.#open.size > this.#max) this.#idle.values().next().value?.destroy();
  }

  /** The server has sent something, and waits for the client until that sends something. */
  waits(client: Socket): void {
    if (!this.#open.has(client)) return;
    this.#idle.delete(client);
    this.#idle.add(client);
  }
}
