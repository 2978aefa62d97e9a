/** What becomes of a command when the reader of its output has enough, as `head -1` has. */

/** Resolves when the output is closed. From then on, what is written to it is lost, and that is no error. */
export const outputClosed = (): Promise<void> =>
  new Promise((resolve) => {
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: Error & { code?: string }) => {
        if (error.code !== "EPIPE") throw error;
        resolve();
      });
    }
  });
