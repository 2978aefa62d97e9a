/** Finds free ports for the ingest process before it starts, because the server prints them and does not wait for the process. */

/** A port, or 0 for a free one. */
export interface WantedPort {
  readonly port: number;
  /** Whether Plaza chose the port: if it is taken, any free port will do. */
  readonly isChoice: boolean;
}

/** Finds the ports, in the order of `wanted`. If a port that the operator asked for is taken, it throws the error of listening. */
export function findFreePorts(hostname: string, wanted: readonly WantedPort[]): number[] {
  const listeners: { readonly port: number; stop(): void }[] = [];
  try {
    for (const { port, isChoice } of wanted) listeners.push(isChoice ? listenOrElsewhere(hostname, port) : listen(hostname, port));
    return listeners.map(({ port }) => port);
  } finally {
    for (const listener of listeners) listener.stop();
  }
}

const listen = (hostname: string, port: number) => Bun.listen({ hostname, port, socket: { data: () => {} } });

function listenOrElsewhere(hostname: string, port: number): ReturnType<typeof listen> {
  try {
    return listen(hostname, port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return listen(hostname, 0);
  }
}
