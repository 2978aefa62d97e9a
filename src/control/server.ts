/** The control API's listener, on a port of its own. */
import type { Server } from "bun";
import { sleepMs } from "#system";
import { type ControlAppOptions, controlApp, largestBodyBytes } from "./app.ts";

export interface ControlServerOptions extends ControlAppOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

export interface ControlServer {
  readonly port: number;
  /** No new requests; running ones end, but after `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** Longer than the longest wait of `requests/expect`, and the most that Bun takes. */
const IDLE_SECONDS_MAX = 255;

export function serveControl(options: ControlServerOptions): ControlServer {
  const app = controlApp(options);
  const server: Server<undefined> = Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: IDLE_SECONDS_MAX,
    // One byte more, so that the application refuses a larger body, with an error of its own.
    maxRequestBodySize: largestBodyBytes(options.deps.registry) + 1,
    fetch: (request) => app.fetch(request),
  });
  return {
    port: server.port as number,
    async stop(graceMs) {
      await Promise.race([server.stop(false), sleepMs(graceMs)]);
      await server.stop(true);
    },
  };
}
