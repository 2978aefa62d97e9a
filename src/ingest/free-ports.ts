/** Which ports the ingest process will listen on, found before it is started: the server names them, and does not wait for the process. */

/** A port, or 0 for a free one. */
export interface WantedPort {
  readonly port: number;
  /** Nobody asked for it: where it is taken, any free one is. */
  readonly isChoice: boolean;
}

/** As many as are wanted, in this order. Throws, as listening does, where one that was asked for cannot be had. */
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
