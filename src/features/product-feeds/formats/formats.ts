/** Detects the format of a file by the beginning of its text, and creates the reader for this format. The reader of JSON lines is in this file. */

import { trimmedEnd } from "#kernel/text";
import { fieldOf, type ItemField, isRequired, type RawItem } from "../product-feeds.items.ts";
import { ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { CsvReader, delimiterOf, delimiters } from "./csv.ts";
import { FeedFileProblem, type FeedFormat, type RowReader, type RowSink, type Warning } from "./rows.ts";
import { XmlReader } from "./xml.ts";

/** The number of characters at the beginning of a file by which its format is detected: enough for comments and a header of hundreds of columns. */
const START_CHARACTERS = 16_384;

/** Reads a file of any format. */
export class FeedTextReader implements RowReader {
  readonly #sink: RowSink;
  #start = "";
  #reader: RowReader | undefined;
  /** The requested or detected format; undefined until the format is detected. */
  format: FeedFormat | undefined;

  constructor(format: FeedFormat | undefined, sink: RowSink) {
    this.format = format;
    this.#sink = sink;
  }

  push(text: string): void {
    if (this.#reader !== undefined) {
      this.#reader.push(text);
      return;
    }
    this.#start += text;
    if (this.#start.length >= START_CHARACTERS) this.#begin();
  }

  end(): void {
    if (this.#reader === undefined) this.#begin();
    this.#reader?.end();
  }

  #begin(): void {
    const text = this.#start;
    this.#start = "";
    if (text.trim() === "") throw new FeedFileProblem("the file is empty");
    // The examined beginning of a file has the same length, no matter how the text was cut into pieces. A carriage return at the end of the examined
    // text is left out, because a newline may follow it.
    const start = trimmedEnd(text.slice(0, START_CHARACTERS), "\r");
    // In files of old Macs, each line ends with a carriage return only.
    const hasOldLines = start.includes("\r") && !start.includes("\n");
    const { format, reader } = readerOf(hasOldLines ? start.replaceAll("\r", "\n") : start, this.format, this.#sink);
    this.format = format;
    this.#reader = hasOldLines && format !== "xml" ? withNewLines(reader) : reader;
    this.#reader.push(text);
  }
}

/** Returns the format of a file and a reader for it. `start` is the beginning of the file's text. Throws `FeedFileProblem` for a JSON list. */
function readerOf(start: string, requested: FeedFormat | undefined, sink: RowSink): { format: FeedFormat; reader: RowReader } {
  const [first] = start.trimStart();
  const format = requested ?? (first === "<" ? "xml" : first === "{" ? "jsonl" : undefined);
  if (format === "xml") return { format, reader: new XmlReader(sink) };
  if (format === "jsonl") return { format, reader: new JsonLinesReader(sink) };
  if (format === undefined && first === "[") throw new FeedFileProblem("the file is a JSON list; send JSON lines, with one object on each line");
  const candidates = delimiters.filter((delimiter) => format === undefined || (format === "tsv") === (delimiter === "\t"));
  const delimiter = delimiterOf(start, candidates);
  return { format: format ?? (delimiter === "\t" ? "tsv" : "csv"), reader: new CsvReader(delimiter, sink) };
}

const withNewLines = (reader: RowReader): RowReader => ({
  push: (text) => reader.push(text.replaceAll("\r", "\n")),
  end: () => reader.end(),
});

/** Reads JSON lines: each line of the file is one object. */
class JsonLinesReader implements RowReader {
  readonly #sink: RowSink;
  #text = "";
  #line = 1;
  /** Whether the reader skips the rest of the current line. */
  #isSkipping = false;
  #hasLine = false;

  constructor(sink: RowSink) {
    this.#sink = sink;
  }

  push(text: string): void {
    this.#text += text;
    let start = 0;
    for (let end = this.#text.indexOf("\n"); end !== -1; end = this.#text.indexOf("\n", start)) {
      this.#take(this.#text.slice(start, end));
      start = end + 1;
    }
    this.#text = this.#text.slice(start);
    if (this.#text.length <= ROW_CHARACTERS_MAX) return;
    if (!this.#isSkipping) this.#sink.bad(this.#line, `is longer than ${ROW_CHARACTERS_MAX} characters`);
    this.#isSkipping = true;
    this.#hasLine = true;
    this.#text = "";
  }

  end(): void {
    if (this.#text !== "") this.#take(this.#text);
    if (!this.#hasLine) throw new FeedFileProblem("the file is empty");
  }

  #take(text: string): void {
    const line = this.#line++;
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (text.trim() === "") return;
    this.#hasLine = true;
    if (text.length > ROW_CHARACTERS_MAX) {
      this.#sink.bad(line, `is longer than ${ROW_CHARACTERS_MAX} characters`);
      return;
    }
    const read = readLine(text);
    if (typeof read === "string") this.#sink.bad(line, read);
    else this.#sink.row(line, read.raw, read.warnings);
  }
}

/** Reads one line of JSON lines. Returns the values by field, or a text that says why the line is bad. */
function readLine(text: string): { readonly raw: RawItem; readonly warnings: readonly Warning[] } | string {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return "is not valid JSON";
  }
  if (typeof object !== "object" || object === null || Array.isArray(object)) return "is not a JSON object";
  const raw: RawItem = {};
  const ranks = new Map<ItemField, number>();
  const warnings: Warning[] = [];
  for (const [key, value] of Object.entries(object)) {
    const meaning = fieldOf(key);
    if (meaning === undefined || value === null || (ranks.get(meaning.field) ?? meaning.rank) < meaning.rank) continue;
    ranks.set(meaning.field, meaning.rank);
    if (typeof value === "string") raw[meaning.field] = value;
    // Larger numbers are refused, because JSON.parse loses digits above 2^53.
    else if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) raw[meaning.field] = String(value);
    else if (isRequired(meaning.field)) return `${meaning.field} is not a string`;
    else warnings.push({ field: meaning.field, reason: "is not a string" });
  }
  return { raw, warnings };
}
