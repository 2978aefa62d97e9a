/**
 * TLS for `--http node`. A server of `node:tls` can take a renewed certificate while it listens, one of `node:https` on Bun cannot;
 * so it accepts the connections and hands them to the HTTP server. What the HTTP server watches only on connections that it has
 * accepted itself, the time that a head may take and idle connections, is watched here.
 */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { Certificate } from "#config/certificate";
import type { HttpLimits } from "../limits.ts";

interface Requests {
  /** The newest request of the connection. */
  latestOn(socket: Duplex): { readonly isFinished: boolean } | undefined;
  refuseSlowHead(socket: Duplex): void;
}

export function tlsInFrontOf(http: Server, certificate: Certificate, limits: HttpLimits, requests: Requests): TlsServer {
  const options = { ...certificate.current, handshakeTimeout: limits.headMsMax, ALPNProtocols: ["http/1.1"] };
  const server = createServer(options, (socket) => {
    http.emit("connection", socket);
    watch(socket, limits, requests);
  });
  // A handshake that failed, or did not come in time.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  certificate.onRenewed((pair) => server.setSecureContext(pair));
  return server;
}

/** A head has one clock, from its first byte, or from the handshake on. Between two requests the connection is idle. */
function watch(socket: TLSSocket, { headMsMax, keepAliveMs }: HttpLimits, requests: Requests): void {
  const isServing = (): boolean => requests.latestOn(socket)?.isFinished === false;
  const refuse = (): void => {
    if (socket.bytesRead === 0) socket.destroy();
    else requests.refuseSlowHead(socket);
  };
  // Timers because only they can notice that nothing comes.
  let headTimer: ReturnType<typeof setTimeout> | undefined = setTimeout(refuse, headMsMax);
  let latest = requests.latestOn(socket);
  // The HTTP server has read these bytes before: either a head has ended with them, or one has begun.
  socket.on("data", () => {
    const newest = requests.latestOn(socket);
    if (newest !== latest || isServing()) {
      clearTimeout(headTimer);
      headTimer = undefined;
    } else {
      // The timer of this head.
      headTimer ??= setTimeout(refuse, headMsMax);
    }
    latest = newest;
  });
  socket.on("close", () => clearTimeout(headTimer));
  socket.setTimeout(keepAliveMs, () => {
    if (!isServing()) socket.destroy();
  });
}
