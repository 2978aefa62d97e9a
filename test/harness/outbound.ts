/** The guarded client for outgoing requests, and receivers on loopback that end with the test. */
import { createServer, type Server, type Socket } from "node:net";
import { GuardedClient, type GuardedClientOptions } from "#outbound/client";
import type { OutboundRequest } from "#outbound/request";
import { afterThisTest } from "./cleanup.ts";

export function clientOf(options: GuardedClientOptions): GuardedClient {
  const client = new GuardedClient(options);
  afterThisTest(() => client.close());
  return client;
}

/** Starts a receiver, and returns its port. */
export function serve(
  fetch: (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>,
  tls?: { key: string; cert: string },
): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls === undefined ? {} : { tls }) });
  afterThisTest(() => server.stop(true));
  return server.port as number;
}

/** Starts a receiver that responds to each connection with the bytes that `response` returns. Returns its port. */
export async function serveBytes(
  response: (request: string, socket: Socket) => readonly (string | Buffer)[] | undefined,
  then: "close" | "keep" = "keep",
): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", async (data) => {
      const parts = response(data.toString("latin1"), socket);
      if (parts === undefined) return;
      for (const part of parts) {
        socket.write(part);
        await Bun.sleep(2);
      }
      if (then === "close") socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as { port: number }).port;
}

export const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: "GET",
  url,
  headers: {},
  deadlineMs: 2_000,
  responseBytesMax: 65_536,
  ...more,
});

export const textOf = (response: { body: Buffer }): string => response.body.toString("utf8");
