/** A network between a server and PostgreSQL that drops all packets for a time, as a broken switch or a changed firewall does. */
import { createServer, connect as openSocket, type Socket } from "node:net";

export interface SilentNetwork {
  /** The address of the database behind this network. */
  readonly url: string;
  /** From this call on, the network drops all packets in both directions, and tells neither side. */
  silence(): void;
  /** The bytes that were sent in the meantime arrive now, because operating systems send lost packets again. */
  restore(): void;
  close(): Promise<void>;
}

export async function silentNetwork(database: string): Promise<SilentNetwork> {
  const { hostname, port } = new URL(database);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: false }, (client) => {
    const upstream = openSocket(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isSilent) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(database);
  const address = server.address();
  url.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url: url.href,
    silence: () => {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
