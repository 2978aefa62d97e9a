/** Finds ports for the ingest process before it starts, because the server prints them and does not wait for the process. */

/** A port, or 0 for a free one. */
export interface WantedPort {
  readonly port: number;
  /** Plaza chose the port; if it is taken, any free one will do. */
  readonly isChoice: boolean;
}

/** The ports in the order of `wanted`. Throws the error of listening if a port that somebody asked for is taken. */
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
