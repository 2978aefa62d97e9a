/** Detects the format of a file by its beginning, and creates the reader for it. */
import { CsvReader } from "./csv.ts";
import { JsonLinesReader } from "./jsonl.ts";
import { FeedFileProblem, type FeedFormat, type RowReader, type RowSink } from "./rows.ts";
import { XmlReader } from "./xml.ts";

/** Contains the header of a file with hundreds of columns. */
const START_CHARACTERS = 16_384;

/** Reads a file of any format. */
export class FeedTextReader implements RowReader {
  readonly #sink: RowSink;
  #start = "";
  #reader: RowReader | undefined;
  /** Requested or detected; undefined until then. */
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
    const start = this.#start;
    this.#start = "";
    if (start.trim() === "") throw new FeedFileProblem("the file is empty");
    this.format ??= formatOf(start);
    // Old Macs end lines with a carriage return only.
    const hasOldLines = this.format !== "xml" && start.includes("\r") && !start.includes("\n");
    const reader = readerOf(this.format, start, this.#sink);
    this.#reader = hasOldLines ? withNewLines(reader) : reader;
    this.#reader.push(start);
  }
}

/** Throws `FeedFileProblem` for a JSON list. */
function formatOf(start: string): FeedFormat {
  switch (start.trimStart()[0]) {
    case "<":
      return "xml";
    case "{":
      return "jsonl";
    case "[":
      throw new FeedFileProblem("the file is a JSON list; send JSON lines, with one object on each line");
    default:
      return countIn(headerOf(start), "\t") > 0 ? "tsv" : "csv";
  }
}

function readerOf(format: FeedFormat, start: string, sink: RowSink): RowReader {
  switch (format) {
    case "xml":
      return new XmlReader(sink);
    case "jsonl":
      return new JsonLinesReader(sink);
    case "tsv":
      return new CsvReader("\t", sink);
    case "csv": {
      const header = headerOf(start);
      const [delimiter = ","] = [",", ";", "|"].sort((one, other) => countIn(header, other) - countIn(header, one));
      return new CsvReader(delimiter, sink);
    }
  }
}

const headerOf = (start: string): string => /^[^\r\n]*/.exec(start.trimStart())?.[0] ?? "";

const countIn = (text: string, part: string): number => text.split(part).length - 1;

const withNewLines = (reader: RowReader): RowReader => ({
  push: (text) => reader.push(text.replaceAll("\r", "\n")),
  end: () => reader.end(),
});
