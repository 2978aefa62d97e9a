/** A PostgreSQL without a socket: the test decides which session begins, and how each one responds. */
import { EventEmitter } from "node:events";
import type { PipelinedQueries } from "#storage/postgres/pipelined-queries";
import type { Server } from "#storage/postgres/server";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A statement as it was sent; `name` is that under which it stays prepared. */
export interface Sent {
  readonly name: string;
  readonly text: string;
}

/** How a statement ends: as PostgreSQL says it, such as `UPDATE 1`, or with an error. `SELECT 2` brings two rows, without columns. */
export type Completion = string | Error;

/** A session that notes what is sent to it. */
export class LoneSession extends EventEmitter {
  /** Program text, and the texts sent in each pipeline together. */
  readonly sent: (string | readonly string[])[] = [];
  /** Statements as they were prepared, in their order. */
  readonly prepared: Sent[] = [];
  hasEnded = false;
  /** Of program text. */
  respond: (text: string) => Promise<Rows> = async () => [];
  /** Of each statement of a pipeline, a turn after it was sent; left out: the test says when it ends, with `complete`. */
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

  /** Ends every statement that is under way. */
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
  /** With which options and in which schema each session was asked for. */
  readonly asked: unknown[] = [];
  /** The first messages of a session. */
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
