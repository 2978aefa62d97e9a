/**
 * The processes that read files for a server: `plaza read-feed`, `plaza read-world-file` and `plaza check-data`. Only other commands of plaza
 * start the processes for reading files (`src/jobs/child-process.ts`). Each of these commands loads its modules only when it runs.
 */
import type { CheckedFile } from "#data-check";
import type { FromReader, ToReader } from "#features/product-feeds/api";
import type { FromFileReader, ToFileReader } from "#graph/worlds/file/file-process";
import { FAILED, note } from "../terminal/output.ts";

/**
 * The memory limit of `plaza read-feed`. `plaza read-feed` has one piece of the file, one row and one group of items in memory at a
 * time: less than 150 MB (measured).
 */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Ties this process to the server that started it: the process ends when the server has ended, and signals do not end the process. Returns
 * false if no server started the process, or if that server has ended already.
 */
export function belongsToServer(command: string, starter = "`plaza start`"): boolean {
  if (process.send === undefined) {
    note(`plaza: ${command} is started only by ${starter}`);
    return false;
  }
  // This process has to end itself when the server has ended, because nothing else ends it.
  process.on("disconnect", () => process.exit(FAILED));
  // A terminal sends its signals to all processes that belong to a command, but only the server decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  // The server may already have ended while this process loaded its modules.
  return process.connected;
}

/** The server as the child process sees it: the child sends a result through the channel, and the server replies with one message. */
class AskingServer<Question, Answer> {
  #message = Promise.withResolvers<Question>();

  constructor() {
    process.on("message", (message: Question) => this.#message.resolve(message));
  }

  async next(): Promise<Question> {
    const message = await this.#message.promise;
    this.#message = Promise.withResolvers();
    return message;
  }

  answer(message: Answer): Promise<Question> {
    process.send?.(message);
    return this.next();
  }
}

/** Reads one feed file for the server. */
export async function readFeedForServer(): Promise<number> {
  if (!belongsToServer("read-feed")) return FAILED;
  const server = new AskingServer<ToReader, FromReader>();
  const { readFeed } = await import("#features/product-feeds/api");
  const ask = (message: FromReader): Promise<ToReader> => {
    if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.exit(FAILED);
    return server.answer(message);
  };
  const begin = await server.next();
  const format = begin.kind === "begin" ? begin.format : undefined;
  for await (const piece of readFeed(partsOf(ask), format)) await ask({ kind: "piece", piece });
  // The server ends this process after the server has received this message.
  await ask({ kind: "end" });
  return 0;
}

async function* partsOf(ask: (message: FromReader) => Promise<ToReader>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = await ask({ kind: "part" });
    if (answer.kind !== "part" || answer.bytes === undefined) return;
    yield answer.bytes;
  }
}

/** Reads one world file in YAML for the server. */
export async function readWorldFileForServer(): Promise<number> {
  if (!belongsToServer("read-world-file")) return FAILED;
  const server = new AskingServer<ToFileReader, FromFileReader>();
  const pieces: string[] = [];
  let question = await server.next();
  for (; question.kind === "text"; question = await server.answer({ kind: "received" })) pieces.push(question.text);
  const text = pieces.join("");
  const { lineInYaml } = await import("#graph/worlds/file/text");
  // The server ends this process when it has received the last result.
  if (question.kind === "line") await server.answer({ kind: "line", line: await lineInYaml(question.path, text) });
  else await server.answer(await allParts(text, server));
  return 0;
}

async function allParts(text: string, server: AskingServer<ToFileReader, FromFileReader>): Promise<FromFileReader> {
  const [{ partsOfYaml }, { WorldFileProblem }] = await Promise.all([import("#graph/worlds/file/parts"), import("#graph/worlds/file/text")]);
  try {
    for await (const part of partsOfYaml(text)) await server.answer({ kind: "part", part });
    return { kind: "end" };
  } catch (error) {
    if (!(error instanceof WorldFileProblem)) throw error;
    const { problem, path, line } = error;
    return { kind: "problem", problem, path, line };
  }
}

/** Reads the files of worlds to find damage (D-343). The server may end this process at any time. */
export function checkData(): Promise<number> {
  return new Promise((resolve) => {
    if (process.send === undefined) {
      note("plaza: check-data is started only by other commands of plaza");
      resolve(FAILED);
      return;
    }
    process.once("message", async (files: readonly string[]) => {
      const { problemOfWorldFile } = await import("#storage/open");
      for (const file of files) process.send?.({ file, problem: await problemOfWorldFile(file, "content") } satisfies CheckedFile);
      process.disconnect?.();
      resolve(0);
    });
    process.once("disconnect", () => resolve(0));
  });
}
