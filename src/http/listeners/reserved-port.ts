/** A port for several processes, which is chosen before the first of them listens. */

export interface ReservedPort {
  readonly port: number;
  /** Called when the processes listen, so that no request reaches this one. */
  release(): Promise<void>;
}

/** Throws if the address cannot be listened on. `port` 0 picks a free one. */
export function reservePort(hostname: string, port: number): ReservedPort {
  const server = Bun.serve({ hostname, port, reusePort: true, fetch: () => new Response(null, { status: 503 }) });
  return { port: server.port as number, release: () => server.stop(true) };
}
