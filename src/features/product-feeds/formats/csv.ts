/**
 * CSV and TSV (RFC 4180, with `,`, `;`, tab or `|` between values): the package cuts rows into values, and what is here cuts
 * the text into pieces of whole rows, counts lines, and goes on behind a row whose quotes are wrong.
 *
 * A quote that is never closed would swallow all that follows: its row is bad, and reading goes on with the next line.
 */
import Papa from "papaparse";
import { fieldOf, type ItemField, neededFields, type RawItem } from "../product-feeds.items.ts";
import { COLUMNS_MAX, PIECE_CHARACTERS, ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem, type RowReader, type RowSink } from "./rows.ts";

/** After a bad row little is read at once, because what follows the next one is read again. */
const CAREFUL_CHARACTERS = 2_048;

const UNCLOSED = "a quote is not closed";
const TOO_LONG = `is longer than ${ROW_CHARACTERS_MAX} characters`;
const TEXT_BEHIND_QUOTE = "text stands behind a closing quote";

export class CsvReader implements RowReader {
  readonly #delimiter: string;
  readonly #sink: RowSink;
  /** What is not read yet; it begins at the beginning of a row, on line `#line`. */
  #text = "";
  #line = 1;
  #pieceCharacters = PIECE_CHARACTERS;
  /** For each column the field it holds; undefined until the header was read. */
  #columns: readonly (ItemField | undefined)[] | undefined;
  /** Of the row that is being read: a million objects fewer. */
  readonly #raw: RawItem = {};
  /** In the middle of a line that is too long. */
  #isSkipping = false;

  constructor(delimiter: string, sink: RowSink) {
    this.#delimiter = delimiter;
    this.#sink = sink;
  }

  push(text: string): void {
    this.#text += text;
    this.#read(false);
  }

  end(): void {
    this.#read(true);
    if (this.#columns === undefined) throw new FeedFileProblem("the file is empty");
  }

  #read(isLast: boolean): void {
    while (this.#text !== "") {
      if (this.#isSkipping && !this.#skipLine()) return;
      const end = this.#endOfPiece(isLast);
      if (end === undefined) {
        if (this.#text.length <= ROW_CHARACTERS_MAX) return;
        this.#badLine(TOO_LONG);
        continue;
      }
      const hasMore = end < this.#text.length;
      if (
        !this.#readPiece(this.#text.slice(0, end), { isFileEnd: isLast && !hasMore, isTextEnd: !isLast && this.#text.indexOf("\n", end + 1) === -1 })
      )
        return;
    }
  }

  /** Whole lines, as far as a piece goes; undefined: no line is whole yet. */
  #endOfPiece(isLast: boolean): number | undefined {
    const { length } = this.#text;
    if (length > this.#pieceCharacters) {
      const inside = this.#text.lastIndexOf("\n", this.#pieceCharacters);
      const end = inside > 0 ? inside : this.#text.indexOf("\n", this.#pieceCharacters);
      if (end !== -1) return end;
    } else if (!isLast) {
      const end = this.#text.lastIndexOf("\n");
      if (end !== -1) return end;
    }
    return isLast ? length : undefined;
  }

  /**
   * Returns whether to go on; false: the last row needs more text. `isFileEnd`: nothing follows the piece; `isTextEnd`: no
   * whole line follows it yet.
   */
  #readPiece(piece: string, { isFileEnd, isTextEnd }: { readonly isFileEnd: boolean; readonly isTextEnd: boolean }): boolean {
    const { data, errors } = Papa.parse(piece, { delimiter: this.#delimiter, newline: "\n" });
    const error = errors.find(({ type }) => type === "Quotes");
    const whole = error?.row ?? data.length;
    const first = this.#line;
    // Only a piece that had to be made longer for it can hold a row that is too long.
    const isLong = piece.length > ROW_CHARACTERS_MAX;
    const isEachOnALine = error === undefined && linesIn(piece) === data.length;
    for (let at = 0; at < whole; at++) {
      const values = data[at] as string[];
      const line = this.#line;
      this.#line += isEachOnALine ? 1 : linesOf(values);
      this.#takeRow(line, values, isLong);
    }
    if (error === undefined) {
      this.#text = this.#text.slice(piece.length + 1);
      this.#pieceCharacters = Math.min(this.#pieceCharacters * 2, PIECE_CHARACTERS);
      return true;
    }
    const start = startOfLine(piece, this.#line - first);
    this.#text = this.#text.slice(start);
    // A row that the end of the piece cut in two.
    if (error.code === "MissingQuotes" && !isFileEnd && this.#text.length <= ROW_CHARACTERS_MAX) {
      this.#pieceCharacters = ROW_CHARACTERS_MAX + 1;
      return !isTextEnd;
    }
    this.#badLine(error.code === "MissingQuotes" ? UNCLOSED : TEXT_BEHIND_QUOTE);
    return true;
  }

  /** The line that the text begins with is bad; what follows it is a row of its own. */
  #badLine(reason: string): void {
    if (this.#columns === undefined) throw new FeedFileProblem(`the header cannot be read: line ${this.#line}: ${reason}`);
    this.#sink.bad(this.#line, reason);
    this.#pieceCharacters = CAREFUL_CHARACTERS;
    this.#isSkipping = true;
    this.#skipLine();
  }

  /** Returns whether the line's end was there. */
  #skipLine(): boolean {
    const end = this.#text.indexOf("\n");
    this.#text = end === -1 ? "" : this.#text.slice(end + 1);
    if (end === -1) return false;
    this.#isSkipping = false;
    this.#line++;
    return true;
  }

  /** Values are trimmed when they become an item, so that a carriage return before the line's end is of no matter. */
  #takeRow(line: number, values: readonly string[], isLong: boolean): void {
    const last = values.length - 1;
    if (last === 0 && values[0]?.trim() === "") return;
    if (this.#columns === undefined) {
      this.#columns = columnsOf(values);
      return;
    }
    if (last >= this.#columns.length && values.slice(this.#columns.length).some((value) => value.trim() !== "")) {
      this.#sink.bad(line, `has ${values.length} values for ${this.#columns.length} columns`);
      return;
    }
    if (isLong && values.reduce((length, value) => length + value.length, 0) > ROW_CHARACTERS_MAX - last) {
      this.#sink.bad(line, TOO_LONG);
      return;
    }
    for (let at = 0; at < this.#columns.length; at++) {
      const field = this.#columns[at];
      if (field !== undefined) this.#raw[field] = values[at] ?? "";
    }
    this.#sink.row(line, this.#raw);
  }
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Line breaks in quotes are part of a value. */
const linesOf = (values: readonly string[]): number => values.reduce((lines, value) => lines + linesIn(value) - 1, 1);

/** Where the line `count` lines below the first begins. */
function startOfLine(text: string, count: number): number {
  let start = 0;
  for (let at = 0; at < count; at++) start = text.indexOf("\n", start) + 1;
  return start;
}

/** Throws `FeedFileProblem` for a header that cannot name an item. */
function columnsOf(names: readonly string[]): (ItemField | undefined)[] {
  if (names.length > COLUMNS_MAX) throw new FeedFileProblem(`the header has more than ${COLUMNS_MAX} columns`);
  const meanings = names.map(fieldOf);
  const best = new Map<ItemField, number>();
  for (const meaning of meanings) {
    if (meaning === undefined) continue;
    const { field, rank } = meaning;
    if (best.get(field) === rank) throw new FeedFileProblem(`the header names ${field} twice`);
    best.set(field, Math.min(best.get(field) ?? rank, rank));
  }
  const lacking = neededFields.filter((field) => !best.has(field));
  if (lacking.length > 0) throw new FeedFileProblem(`the header has no column for ${lacking.join(", ")}`);
  return meanings.map((meaning) => (meaning !== undefined && best.get(meaning.field) === meaning.rank ? meaning.field : undefined));
}
