/**
 * The program's log: lines of JSON or text on stderr. The logger is loaded with the first line, because loading takes 18 ms and
 * most starts log nothing before they are ready.
 *
 * **Invariant:** no token, key or secret reaches the log; requests are logged by method, path without query, trace id, operation and
 * status. A field that repeats what somebody sent, as the message of an error may, is redacted and cut.
 */
import type { Logger } from "pino";
import { redact } from "#kernel/redaction/redaction";
import { StderrLines } from "./stderr-lines.ts";

export type LogFields = Readonly<Record<string, unknown>>;
type Level = "error" | "warn" | "info" | "debug";

export interface LogOptions {
  readonly level: Level | "silent";
  readonly isPretty: boolean;
}

const ORDER: readonly Level[] = ["error", "warn", "info", "debug"];
const STDERR = 2;
/** Of one field. A stack has some 2,000. */
const FIELD_CHARACTERS_MAX = 8_192;

export class Log {
  readonly #options: LogOptions;
  readonly #shown: number;
  readonly #stderr = new StderrLines();
  #timeMs = -1;
  #timeText = "";
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

  /** As `info`, but cheap and written a moment later, for lines that are as many as requests. `fields` are those of a JSON object. */
  line(fields: string, message: string): void {
    if (!this.shows("info")) return;
    if (this.#options.isPretty) this.info(JSON.parse(`{${fields}}`) as LogFields, message);
    else this.#stderr.add(`{"level":"info","time":"${this.#time()}",${fields},"msg":"${message}"}\n`);
  }

  /** Many lines have the same. */
  #time(): string {
    // The machine's clock, as in the logger's lines.
    const nowMs = Date.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#timeText = new Date(nowMs).toISOString();
    }
    return this.#timeText;
  }

  /** Resolves when every line so far is written, or nobody reads them. */
  async flush(): Promise<void> {
    await this.#loading;
    await this.#stderr.flush();
  }

  #add(level: Level, fields: LogFields, message: string): void {
    if (!this.shows(level)) return;
    const shown = shownFields(fields);
    if (this.#logger !== undefined) {
      this.#logger[level](shown, message);
      return;
    }
    this.#waiting.push({ level, fields: shown, message });
    this.#loading ??= this.#load();
  }

  async #load(): Promise<void> {
    const { pino } = await import("pino");
    const { level, isPretty } = this.#options;
    const stream = isPretty
      ? (await import("pino-pretty")).default({ destination: STDERR, sync: true })
      : { write: (line: string) => this.#stderr.write(line) };
    this.#logger = pino(
      { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
      stream,
    );
    for (const { level: at, fields, message } of this.#waiting.splice(0)) this.#logger[at](fields, message);
  }
}

/** As they are written: texts redacted and cut, and objects as such texts. */
export function shownFields(fields: LogFields): LogFields {
  const shown: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "string") shown[name] = excerpt(value);
    else shown[name] = typeof value === "object" && value !== null ? excerpt(JSON.stringify(value)) : value;
  }
  return shown;
}

const excerpt = (text: string): string => (text.length > FIELD_CHARACTERS_MAX ? `${redact(text.slice(0, FIELD_CHARACTERS_MAX))}…` : redact(text));

/** The fields of an error in the log: enough to find the place in the code. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { error: error.message, error_name: error.name, ...cause, stack: framesOf(error) };
}

/** Without the message, which stands in a field of its own. */
const framesOf = ({ stack = "" }: Error): string =>
  stack
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");
