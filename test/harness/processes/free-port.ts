/** Below those that systems give to connections and to port 0: nobody takes such a port until the program that needs it listens there. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A port of loopback for a program that cannot choose one itself. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // In use.
    }
  }
}
