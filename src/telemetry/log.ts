/**
 * The program's log, which consists of lines of JSON or text on stderr.
 *
 * **Invariant:** no token, key or secret reaches the log; a request is logged with its method, path without query, trace id, operation and status. A
 * field of the log that may repeat a caller's input, such as the message of an error, is redacted and cut.
 */
import { styleText } from "node:util";
import { isUnreachable } from "#kernel/errors";
import { redact } from "#kernel/redaction/redaction";
import { StderrLines } from "./stderr-lines.ts";

export type LogFields = Readonly<Record<string, unknown>>;
type Level = "error" | "warn" | "info" | "debug";

export interface LogOptions {
  readonly level: Level | "silent";
  readonly isPretty: boolean;
}

const ORDER: readonly Level[] = ["error", "warn", "info", "debug"];
const COLORS = { error: "red", warn: "yellow", info: "green", debug: "blue" } as const;
/** The maximum number of characters of a field in the log. The stack of an error, the longest usual field, has some 2,000 characters. */
const FIELD_CHARACTERS_MAX = 8_192;

export class Log {
  readonly #options: LogOptions;
  readonly #shown: number;
  readonly #stderr = new StderrLines();
  #timeMs = -1;
  #timeText = "";

  constructor(options: LogOptions) {
    this.#options = options;
    this.#shown = options.level === "silent" ? -1 : ORDER.indexOf(options.level);
  }

  /** Whether the log shows lines of this level. A caller checks the level before it computes fields that take long to compute. */
  shows(level: Level): boolean {
    return ORDER.indexOf(level) <= this.#shown;
  }

  error = (fields: LogFields, message: string): void => this.#add("error", fields, message);
  warn = (fields: LogFields, message: string): void => this.#add("warn", fields, message);
  info = (fields: LogFields, message: string): void => this.#add("info", fields, message);
  debug = (fields: LogFields, message: string): void => this.#add("debug", fields, message);

  /**
   * Logs like `info`, but takes less time, and writes the line a moment later. The line about each request is logged with this method `line`. The
   * parameter `fields` is the text of a JSON object without its braces.
   */
  line(fields: string, message: string): void {
    if (!this.shows("info")) return;
    if (this.#options.isPretty) this.info(JSON.parse(`{${fields}}`) as LogFields, message);
    else this.#stderr.add(`{"level":"info","time":"${this.#time()}",${fields},"msg":"${message}"}\n`);
  }

  /** Returns the time of a line as text. The text of the time is cached, because many lines have the same time. */
  #time(): string {
    // The time is from the machine's clock, as in every line of the log.
    const nowMs = Date.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#timeText = new Date(nowMs).toISOString();
    }
    return this.#timeText;
  }

  /** Resolves when all lines that were logged so far are written, or when nobody reads the log any more. */
  flush(): Promise<void> {
    return this.#stderr.flush();
  }

  #add(level: Level, fields: LogFields, message: string): void {
    if (!this.shows(level)) return;
    const shown = shownFields(fields);
    const time = this.#time();
    this.#stderr.write(
      this.#options.isPretty ? linesForPeople(level, time, shown, message) : `${JSON.stringify({ level, time, ...shown, msg: message })}\n`,
    );
  }
}

/** Returns a line of the log as text for people, in color if stderr is a terminal. The time in such a line is in the machine's time zone. */
function linesForPeople(level: Level, time: string, fields: LogFields, message: string): string {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string => styleText(style, text, { stream: process.stderr });
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [
    `[${new Date(time).toTimeString().slice(0, 8)}${time.slice(19, -1)}] ${styled(COLORS[level], level.toUpperCase())}: ${styled("cyan", message)}`,
    ...shown.map(([name, value]) => `    ${styled("magenta", name)}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");
}

/** Redacts and cuts the texts in the fields of a line. If a field has an object, its JSON text is redacted and cut in the same way. */
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

/**
 * Returns the level for a failure after which the server tries again. While the database cannot be reached, such failures happen several times a
 * second, and lines about them would hide the one line that names the problem of the database (D-341).
 */
export const levelOf = (error: unknown): "debug" | "error" => (isUnreachable(error) ? "debug" : "error");

/** Returns the fields with which the log describes an error. These fields are enough to find the line of code that failed. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { error: error.message, error_name: error.name, ...cause, stack: framesOf(error) };
}

/** Returns the frames of the error's stack without the error's message, which has its own field. */
const framesOf = ({ stack = "" }: Error): string =>
  stack
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");

/**
 * Logs rejected promises that no code awaits; these are programmers' mistakes. The server continues to serve requests after such a mistake, because
 * data change in transactions of the database, and not in the memory of this process.
 */
export function outliveStrayFailures(log: Log): void {
  process.on("unhandledRejection", (error) => log.error(errorFields(error), "a promise was rejected that no code awaits"));
}
