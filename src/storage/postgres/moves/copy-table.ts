/** Copies the rows of a table from one session to another with COPY. The rows of the table are streamed and are not collected in memory. */
import { type Client, type Connection, Query } from "pg";

/** The number of bytes of a copy that may wait to be sent. If more bytes wait to be sent, the reading session pauses until these bytes are sent. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/** The methods of the driver's connection that the driver's type declarations lack. */
interface Copying extends Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(problem: string): void;
}

/** One COPY command, which the driver runs like a query. The driver's client calls the methods `handle…` with the server's messages. */
class Copy extends Query {
  declare callback: ((error?: unknown) => void) | undefined;
  readonly #text: string;
  readonly #ended = Promise.withResolvers<void>();
  #failure: unknown;

  constructor(text: string) {
    super("");
    this.#text = text;
    // Both sides of a copy may fail, but only one failure is reported, so a rejection of this promise may stay unhandled.
    this.#ended.promise.catch(() => {});
  }

  /** Resolves when the server has ended the COPY command. If the server reports an error, the promise rejects with this error. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  override submit = (connection: Connection): void => {
    connection.query(this.#text);
  };

  handleCommandComplete(): void {}

  handleError(error: unknown, _connection?: Connection): void {
    this.#failure ??= error;
    // After an error of the connection, no further message of the server arrives.
    this.#ended.reject(this.#failure);
    this.callback?.(this.#failure);
  }

  handleReadyForQuery(): void {
    this.callback?.();
    if (this.#failure === undefined) this.#ended.resolve();
  }
}

class CopyTo extends Copy {
  readonly #begun = Promise.withResolvers<Copying>();

  /** Resolves with the connection when the server is ready to receive rows. */
  get begun(): Promise<Copying> {
    return this.#begun.promise;
  }

  handleCopyInResponse(connection: Connection): void {
    this.#begun.resolve(connection as Copying);
  }

  override handleError(error: unknown): void {
    this.#begun.reject(error);
    super.handleError(error);
  }
}

class CopyFrom extends Copy {
  readonly #to: Copying;

  constructor(text: string, to: Copying) {
    super(text);
    this.#to = to;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, { stream }: Connection): void {
    const { stream: sending } = this.#to;
    // The stream is corked because the driver writes each chunk as a separate message. While the stream is corked, Node sends many messages as one
    // packet.
    if (sending.writableCorked === 0) {
      sending.cork();
      setImmediate(() => sending.uncork());
    }
    this.#to.sendCopyFromChunk(chunk);
    if (sending.writableLength < WAITING_BYTES_MAX || stream.isPaused()) return;
    stream.pause();
    const go = (): void => {
      sending.off("drain", go).off("close", go);
      stream.resume();
    };
    sending.on("drain", go).on("close", go);
  }
}

/** Copies all rows of `table`, which both sessions find by their search paths. `columns` are the names of the columns. */
export async function copyTable(from: Client, to: Client, table: string, columns: readonly string[]): Promise<void> {
  const what = `"${table}" (${columns.map((column) => `"${column}"`).join(", ")})`;
  const writing = new CopyTo(`COPY ${what} FROM STDIN`);
  to.query(writing);
  const connection = await writing.begun;
  const reading = new CopyFrom(`COPY ${what} TO STDOUT`, connection);
  from.query(reading);
  try {
    await reading.ended;
  } catch (error) {
    connection.sendCopyFail("the rows of the table could not be read");
    await writing.ended.catch(() => {});
    throw error;
  }
  connection.endCopyFrom();
  await writing.ended;
}
