/** A port for several processes. The port is chosen before the first of the processes listens. */

export interface ReservedPort {
  readonly port: number;
  /** Frees the port. Called when the processes listen, so that no request reaches this process. */
  release(): Promise<void>;
}

/** Chooses a port and keeps it. `port` 0 picks a free port. Throws if the address cannot be listened on. */
export function reservePort(hostname: string, port: number): ReservedPort {
  const server = Bun.serve({ hostname, port, reusePort: true, fetch: () => new Response(null, { status: 503 }) });
  return { port: server.port as number, release: () => server.stop(true) };
}
