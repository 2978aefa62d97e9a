/** Finds free ports for the ingest process before the process starts, because the server prints the ports without waiting for the process. */

/** A port that the server needs. The number 0 asks for any free port. */
export interface WantedPort {
  readonly port: number;
  /** Whether Plaza chose the port itself. If another program uses a port that Plaza chose, Plaza takes any free port instead. */
  readonly isChoice: boolean;
}

/**
 * Returns the numbers of free ports, in the order of `wanted`. Throws the error of `listen` if another program uses a port that the operator chose.
 */
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
