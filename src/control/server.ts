/** The control API's listener, on a port of its own. */
import type { Server } from "bun";
import type { Certificate } from "#config/certificate";
import { sleepMs } from "#system";
import { type ControlAppOptions, controlApp, largestBodyBytes } from "./app.ts";

export interface ControlServerOptions extends ControlAppOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Plain HTTP where it is left out. */
  readonly certificate?: Certificate | undefined;
}

export interface ControlServer {
  readonly port: number;
  /** No new requests; running ones end, but after `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** Longer than the longest wait of `requests/expect`, and the most that Bun takes. */
const IDLE_SECONDS_MAX = 255;

/** Rejects when the address cannot be listened on. */
export async function serveControl(options: ControlServerOptions): Promise<ControlServer> {
  const { host, port, certificate } = options;
  if (certificate === undefined) {
    const server = serveHttp(options, { hostname: host, port });
    return { port: server.port as number, stop: (graceMs) => stopHttp(server, graceMs) };
  }
  // Imported only with a certificate: a start does not wait for what it does not use.
  const { listenWithTls, unixPlace } = await import("./tls-front.ts");
  const place = unixPlace();
  const server = serveHttp(options, { unix: place.socket });
  try {
    const front = await listenWithTls(host, port, certificate, place.socket);
    return {
      port: front.port,
      async stop(graceMs) {
        front.close();
        await stopHttp(server, graceMs);
        place.remove();
      },
    };
  } catch (error) {
    await stopHttp(server, 0);
    place.remove();
    throw error;
  }
}

type Address = { readonly hostname: string; readonly port: number } | { readonly unix: string };

/** Bun's declarations know `idleTimeout` of ports alone; on Unix sockets it is the same. */
function serveHttp(options: ControlServerOptions, address: Address): Server<undefined> {
  const app = controlApp({ ...options, isTls: options.certificate !== undefined });
  return Bun.serve({
    ...(address as { readonly hostname: string; readonly port: number }),
    idleTimeout: IDLE_SECONDS_MAX,
    // One byte more, so that the application refuses a larger body, with an error of its own.
    maxRequestBodySize: largestBodyBytes(options.deps.registry) + 1,
    fetch: (request: Request) => app.fetch(request),
  });
}

async function stopHttp(server: Server<undefined>, graceMs: number): Promise<void> {
  await Promise.race([server.stop(false), sleepMs(graceMs)]);
  await server.stop(true);
}
