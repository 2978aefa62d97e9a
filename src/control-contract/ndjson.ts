/** Responses with one JSON value per line. A response in this form may be larger than memory. */

export const NDJSON = "application/x-ndjson";

/** A stream that takes the next piece only when the caller is ready for more. */
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
