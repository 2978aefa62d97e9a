/** Makes responses with one JSON value per line. A response with one value per line may be larger than memory. */

export const NDJSON = "application/x-ndjson";

/** Makes a stream that takes the next piece from `pieces` only when the client is ready for more. */
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
