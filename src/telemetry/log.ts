/**
 * The program's log: lines of JSON or text on stderr. The logger is loaded with the first line, because loading takes 18 ms and
 * most starts log nothing before they are ready.
 *
 * **Invariant:** no token, key or secret reaches the log; requests are logged by trace id, operation and status.
 */
import type { Logger } from "pino";

export type LogFields = Readonly<Record<string, unknown>>;
type Level = "error" | "warn" | "info" | "debug";

export interface LogOptions {
  readonly level: Level | "silent";
  readonly isPretty: boolean;
}

const ORDER: readonly Level[] = ["error", "warn", "info", "debug"];
const STDERR = 2;

export class Log {
  readonly #options: LogOptions;
  readonly #shown: number;
  #logger: Logger | undefined;
  #loading: Promise<void> | undefined;
  #waiting: { level: Level; fields: LogFields; message: string }[] = [];

  constructor(options: LogOptions) {
    this.#options = options;
    this.#shown = options.level === "silent" ? -1 : ORDER.indexOf(options.level);
  }

  /** Checked first if the fields are expensive to make. */
  shows(level: Level): boolean {
    return ORDER.indexOf(level) <= this.#shown;
  }

  error = (fields: LogFields, message: string): void => this.#add("error", fields, message);
  warn = (fields: LogFields, message: string): void => this.#add("warn", fields, message);
  info = (fields: LogFields, message: string): void => this.#add("info", fields, message);
  debug = (fields: LogFields, message: string): void => this.#add("debug", fields, message);

  /** Resolves when every line so far is written. Only lines before the logger is loaded have to wait. */
  async flush(): Promise<void> {
    await this.#loading;
  }

  #add(level: Level, fields: LogFields, message: string): void {
    if (!this.shows(level)) return;
    if (this.#logger !== undefined) {
      this.#logger[level](fields, message);
      return;
    }
    this.#waiting.push({ level, fields, message });
    this.#loading ??= this.#load();
  }

  async #load(): Promise<void> {
    const { pino } = await import("pino");
    const { level, isPretty } = this.#options;
    const stream = isPretty
      ? (await import("pino-pretty")).default({ destination: STDERR, sync: true })
      : pino.destination({ dest: STDERR, sync: true });
    this.#logger = pino(
      { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
      stream,
    );
    for (const { level: at, fields, message } of this.#waiting.splice(0)) this.#logger[at](fields, message);
  }
}

/** The fields of an error in the log: enough to find the place in the code. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { error: error.message, error_name: error.name, ...cause, stack: error.stack };
}
