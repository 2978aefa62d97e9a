/** A PostgreSQL without a socket: the test decides which sessions begin, and how each session responds. */
import { EventEmitter } from "node:events";
import type { PipelinedQueries } from "#storage/postgres/pipelined-queries";
import type { Server } from "#storage/postgres/server";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A statement as the client sent it. `name` is the name of the prepared statement. */
export interface Sent {
  readonly name: string;
  readonly text: string;
}

/**
 * The end of a statement: the tag that PostgreSQL sends, such as `UPDATE 1`, or an error. After the tag `SELECT 2`, the response has two rows without
 * columns.
 */
export type Completion = string | Error;

/** A fake session that records the statements that it receives. */
export class LoneSession extends EventEmitter {
  /** The statements that were sent as plain text, and the lists of statements that were sent together in a pipeline. */
  readonly sent: (string | readonly string[])[] = [];
  /** The prepared statements, in their order. */
  readonly prepared: Sent[] = [];
  hasEnded = false;
  /** The function responds to a statement that was sent as plain text. */
  respond: (text: string) => Promise<Rows> = async () => [];
  /**
   * Ends each statement of a pipeline one turn of the event loop after it was sent. If this function is undefined, the test ends statements with
   * `complete`.
   */
  completionOf: ((text: string) => Completion) | undefined;
  readonly #texts = new Map<string, string>();
  readonly #pipelines: { readonly queries: PipelinedQueries; readonly texts: readonly string[] }[] = [];

  query(what: string | PipelinedQueries): Promise<{ rows: Rows }> | PipelinedQueries {
    if (typeof what === "string") {
      this.sent.push(what);
      return this.respond(what).then((rows) => ({ rows }));
    }
    const texts: string[] = [];
    const wire = {
      stream: { cork() {}, uncork() {} },
      parse: ({ name, text }: Sent): void => {
        this.prepared.push({ name, text });
        this.#texts.set(name, text);
      },
      bind: ({ statement }: { statement: string }) => void texts.push(this.#texts.get(statement) ?? ""),
      ...{ describe() {}, execute() {}, close() {}, sync() {} },
    };
    what.submit(wire as never);
    this.sent.push(texts);
    this.#pipelines.push({ queries: what, texts });
    const { completionOf } = this;
    if (completionOf !== undefined) setImmediate(() => this.complete(completionOf));
    return what;
  }

  /** Ends every statement that the session has not answered yet. */
  complete(completionOf: (text: string) => Completion = () => "UPDATE 0"): void {
    for (const { queries, texts } of this.#pipelines.splice(0)) {
      for (const text of texts) {
        const completion = completionOf(text);
        if (typeof completion !== "string") {
          queries.handleError(completion);
          break;
        }
        const rows = Number(/^SELECT (\d+)/.exec(completion)?.[1] ?? 0);
        queries.handleRowDescription({ fields: [] });
        for (let row = 0; row < rows; row++) queries.handleDataRow({ fields: [] });
        queries.handleCommandComplete({ text: completion });
      }
      queries.handleReadyForQuery();
    }
  }

  async end(): Promise<void> {
    this.hasEnded = true;
  }
}

export class LoneServer {
  readonly schema = "own";
  readonly sessions: LoneSession[] = [];
  /** The options and the schema with which the client requested each session. */
  readonly asked: unknown[] = [];
  /** The function runs at the beginning of a session, and sends the first messages of the server. */
  beginning: (session: LoneSession) => void | Promise<void> = () => {};

  async connect(options: unknown, schema = this.schema): Promise<LoneSession> {
    this.asked.push({ options, schema });
    const session = new LoneSession();
    await this.beginning(session);
    this.sessions.push(session);
    return session;
  }

  get asServer(): Server {
    return this as unknown as Server;
  }
}
