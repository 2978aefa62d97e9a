/** Responses of one JSON value a line, which may be larger than memory. */

export const NDJSON = "application/x-ndjson";

/** A stream that reads the next piece only when the caller is ready for it. */
export function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
