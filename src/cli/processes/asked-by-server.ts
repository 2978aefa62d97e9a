/** A process that answers the messages of a server (`AskedChild` of `src/jobs/child-process.ts`). Only the server starts such a process. */

const FAILED = 1;

/** The server, as its child process reaches it through the channel. The server replies with one message to each answer. */
export class AskingServer<Question, Answer> {
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

/** Runs the process until `run` has ended. The process ends with its server. Returns the exit code. */
export async function answerServer<Question, Answer>(
  command: string,
  run: (server: AskingServer<Question, Answer>) => Promise<void>,
): Promise<number> {
  if (process.send === undefined) {
    process.stderr.write(`plaza: ${command} is started only by \`plaza start\`\n`);
    return FAILED;
  }
  // The server has ended, and nothing else would end this process.
  process.on("disconnect", () => process.exit(FAILED));
  // The server may have ended while this process loaded.
  if (!process.connected) return FAILED;
  // A terminal sends its signals to the whole group of processes. The server decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  await run(new AskingServer());
  return 0;
}
