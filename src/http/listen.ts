import type { Server } from "node:http";

export interface Listening {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Other processes may listen on it too; the system spreads connections over them. */
  readonly isShared: boolean;
}

/** Rejects when the address cannot be listened on. */
export function listen(server: Server, { hostname, port, isShared }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const begin = (): void => {
      server.listen({ host: hostname, port }, () => {
        server.removeListener("error", reject);
        resolve();
      });
    };
    if (isShared) withReusedPort(begin);
    else begin();
  });
}

/**
 * NOTE: Bun 1.4 listens for `node:http` by a call of `Bun.serve`, and asks for SO_REUSEPORT only within workers of
 * `node:cluster`; it does not look at `reusePort` of `listen`. For the length of this synchronous call the option is added.
 * A test lets two servers share a port.
 */
function withReusedPort(begin: () => void): void {
  const runtime = Bun as { serve: typeof Bun.serve };
  const { serve } = runtime;
  runtime.serve = ((options: object) => serve({ ...options, reusePort: true } as Parameters<typeof serve>[0])) as typeof serve;
  try {
    begin();
  } finally {
    runtime.serve = serve;
  }
}
