/** `plaza read-feed`: reads one feed file and ends. Only the server starts it (`src/features/product-feeds/ingestion/reading-process.ts`). */
import { type FromReader, readFeed, type ToReader } from "#features/product-feeds/api";

const FAILED = 1;
/** The memory of the process. A reading process holds one part of the file, one row and one write of items: less than 150 MB (measured). */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

export async function readFeedForServer(): Promise<number> {
  if (process.send === undefined) {
    process.stderr.write("plaza: read-feed is started only by `plaza start`\n");
    return FAILED;
  }
  // The server has ended, and nothing else would end this process.
  process.on("disconnect", () => process.exit(FAILED));
  // The server may have ended while this process loaded.
  if (!process.connected) return FAILED;
  // A terminal sends its signals to the whole group of processes. The server decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  const server = new Server();
  const begin = await server.next();
  const format = begin.kind === "begin" ? begin.format : undefined;
  for await (const piece of readFeed(partsOf(server), format)) await server.ask({ kind: "piece", piece });
  await server.ask({ kind: "end" });
  return 0;
}

async function* partsOf(server: Server): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = await server.ask({ kind: "part" });
    if (answer.kind !== "part" || answer.bytes === undefined) return;
    yield answer.bytes;
  }
}

/**
 * The server, as this process reaches it through the channel. The server replies with one message to each of this process, and ends this process
 * after the last one.
 */
class Server {
  #message = Promise.withResolvers<ToReader>();

  constructor() {
    process.on("message", (message: ToReader) => this.#message.resolve(message));
  }

  async next(): Promise<ToReader> {
    const message = await this.#message.promise;
    this.#message = Promise.withResolvers();
    return message;
  }

  ask(message: FromReader): Promise<ToReader> {
    if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.exit(FAILED);
    process.send?.(message);
    return this.next();
  }
}
