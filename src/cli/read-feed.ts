/** `plaza read-feed`: reads one feed file and ends. Only the server starts it (`src/features/product-feeds/ingestion/reading-process.ts`). */
import { type FromReader, readFeed, type ToReader } from "#features/product-feeds/api";
import { type AskingServer, answerServer } from "./processes/asked-by-server.ts";

const FAILED = 1;
/** The memory of the process. A reading process holds one part of the file, one row and one write of items: less than 150 MB (measured). */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

export const readFeedForServer = (): Promise<number> =>
  answerServer("read-feed", async (server: AskingServer<ToReader, FromReader>) => {
    const ask = (message: FromReader): Promise<ToReader> => {
      if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.exit(FAILED);
      return server.answer(message);
    };
    const begin = await server.next();
    const format = begin.kind === "begin" ? begin.format : undefined;
    for await (const piece of readFeed(partsOf(ask), format)) await ask({ kind: "piece", piece });
    // The server ends this process after its last message.
    await ask({ kind: "end" });
  });

async function* partsOf(ask: (message: FromReader) => Promise<ToReader>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = await ask({ kind: "part" });
    if (answer.kind !== "part" || answer.bytes === undefined) return;
    yield answer.bytes;
  }
}
