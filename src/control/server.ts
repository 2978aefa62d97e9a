/** The control API's listener, on a port of its own. */
import type { Server } from "bun";
import type { Certificate } from "#config/certificate";
import { within } from "#kernel/turns";
import { type ControlAppOptions, controlApp, largestBodyBytes } from "./app.ts";
import { listenInFront, unixPlace } from "./front.ts";

export interface ControlServerOptions extends ControlAppOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Plain HTTP where it is left out. */
  readonly certificate?: Certificate | undefined;
  /** Locked by this process; undefined: the data is elsewhere. */
  readonly dataFolder?: string | undefined;
  /** Of all clients together; 256 where it is left out. */
  readonly connectionsMax?: number;
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
  const { host, port, certificate, connectionsMax } = options;
  // Windows has no Unix sockets everywhere.
  if (certificate === undefined && process.platform === "win32") {
    const server = serveHttp(options, { hostname: host, port });
    return { port: server.port as number, stop: (graceMs) => stopHttp(server, graceMs) };
  }
  const place = unixPlace(options.dataFolder);
  const server = serveHttp(options, { unix: place.socket });
  try {
    const front = await listenInFront({ host, port, certificate, unixSocket: place.socket, connectionsMax });
    return {
      port: front.port,
      async stop(graceMs) {
        const closed = front.close();
        await stopHttp(server, graceMs);
        // What the HTTP server has sent is still on its way.
        await within(closed, FLUSH_MS_MAX);
        place.remove();
      },
    };
  } catch (error) {
    await stopHttp(server, 0);
    place.remove();
    throw error;
  }
}

/** For the last bytes of responses, to clients that take them. */
const FLUSH_MS_MAX = 1_000;

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
  await within(server.stop(false), graceMs);
  await server.stop(true);
}
