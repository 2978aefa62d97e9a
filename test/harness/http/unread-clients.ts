/** Runs clients in a thread of their own, for a server in the test's thread that does nothing while they connect and send. */
import { connect } from "node:net";

interface Order {
  readonly port: number;
  /** The text that each client sends. */
  readonly text: string;
  readonly count: number;
  /** This number becomes 1 when all clients have sent their text. */
  readonly sent: Int32Array<SharedArrayBuffer>;
}

addEventListener("message", async ({ data: { port, text, count, sent } }: MessageEvent<Order>) => {
  let sentCount = 0;
  const received = Array.from(
    { length: count },
    () =>
      new Promise<string>((resolve) => {
        let all = "";
        const socket = connect(port, "127.0.0.1", () =>
          socket.write(text, () => {
            if (++sentCount < count) return;
            Atomics.store(sent, 0, 1);
            Atomics.notify(sent, 0);
          }),
        );
        socket.on("data", (bytes) => {
          all += bytes;
        });
        socket.on("error", ({ message }) => resolve(message));
        socket.on("close", () => resolve(all));
      }),
  );
  postMessage(await Promise.all(received));
});
