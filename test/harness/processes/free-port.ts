/**
 * The first port that the function tries. These ports are below those that systems give to connections and to port 0, so another program seldom takes
 * one first.
 */
const FIRST = 20_000;
const COUNT = 10_000;

/** A free port of loopback, for a program that cannot choose a port itself. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // The port is in use.
    }
  }
}
