/** Connections that wait for their next request, by where they lead. */
import { RequestBurst } from "./burst.ts";
import { Connection, type Endpoint, type EndpointTls } from "./connection.ts";

/** Receivers close after 5 s and more (Node's default); a connection that is younger is very likely still there. */
const IDLE_MS_MAX = 4_000;
/**
 * Many callbacks may lead to one host, each with its requests at once. Where more are given back than are kept, each request opens a
 * connection and closes it, which measured a third of a delivery's cost.
 */
const IDLE_PER_ENDPOINT_MAX = 512;
/** In all, at some kB each; well below the usual limit of open files. */
const IDLE_MAX = 2_048;
const SWEEP_MS = 1_000;

export const endpointOf = (address: string, port: number, tls: EndpointTls | undefined): Endpoint => ({
  address,
  port,
  tls,
  key: keyOf(address, port, tls),
});

const keyOf = (address: string, port: number, tls: EndpointTls | undefined): string =>
  tls === undefined ? `${address} ${port}` : `${address} ${port} ${tls.serverName ?? ""} ${tls.ca === undefined ? "" : Bun.hash(tls.ca)}`;

export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  readonly #burst = new RequestBurst();
  #count = 0;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /** One that has waited, the last used first; else undefined. */
  take({ key }: Endpoint): Connection | undefined {
    const waiting = this.#idle.get(key);
    while (waiting !== undefined) {
      const connection = waiting.pop();
      if (connection === undefined) return undefined;
      this.#count--;
      // time: of sockets, not of a world.
      if (connection.isOpen && performance.now() - connection.idleSinceMs < IDLE_MS_MAX) return connection;
      connection.close();
    }
    return undefined;
  }

  open(endpoint: Endpoint): Promise<Connection> {
    return Connection.open(endpoint, this.#burst);
  }

  give({ key }: Endpoint, connection: Connection): void {
    if (!connection.isOpen) return;
    const waiting = this.#idle.get(key);
    if (this.#isClosed || this.#count >= IDLE_MAX || (waiting?.length ?? 0) >= IDLE_PER_ENDPOINT_MAX) {
      connection.close();
      return;
    }
    // time: of sockets, not of a world.
    connection.idleSinceMs = performance.now();
    if (waiting === undefined) this.#idle.set(key, [connection]);
    else waiting.push(connection);
    this.#count++;
    if (this.#sweeper !== undefined) return;
    // timer: sockets that nobody uses are closed in real time.
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#idle.values()) for (const connection of waiting) connection.close();
    this.#idle.clear();
    this.#count = 0;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #sweep(): void {
    // time: of sockets, not of a world.
    const now = performance.now();
    for (const [key, waiting] of this.#idle) {
      const kept = waiting.filter((connection) => {
        if (connection.isOpen && now - connection.idleSinceMs < IDLE_MS_MAX) return true;
        connection.close();
        return false;
      });
      this.#count -= waiting.length - kept.length;
      if (kept.length === 0) this.#idle.delete(key);
      else this.#idle.set(key, kept);
    }
    if (this.#count > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
