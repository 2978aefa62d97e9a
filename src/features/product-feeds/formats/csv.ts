/**
 * CSV and TSV (RFC 4180, with `,`, `;`, tab or `|` between values). The package splits rows into values; this file splits the text
 * into pieces of whole rows, counts lines, and continues after a row with wrong quotes.
 *
 * A row with an unclosed quote is skipped and reported, because otherwise the quote would include the rest of the file.
 */
import Papa from "papaparse";
import { fieldOf, type ItemField, type RawItem, requiredFields } from "../product-feeds.items.ts";
import { IN_VAIN_CHARACTERS_MAX, PIECE_CHARACTERS, ROW_CHARACTERS_MAX, VALUE_CHARACTERS_MAX } from "../product-feeds.limits.ts";
import { FeedFileProblem, type RowReader, type RowSink } from "./rows.ts";

/** After a bad row a piece is small, because the text after the next bad row is parsed again. */
const CAREFUL_CHARACTERS = 2_048;

const UNCLOSED = "a quote is not closed";
const TOO_LONG = `is longer than ${ROW_CHARACTERS_MAX} characters`;
const TEXT_AFTER_QUOTE = "text follows a closing quote";

export class CsvReader implements RowReader {
  readonly #delimiter: string;
  readonly #sink: RowSink;
  /** The text that is not parsed yet. It begins at the start of a row, on line `#line`. */
  #text = "";
  #line = 1;
  #pieceCharacters = PIECE_CHARACTERS;
  /** Undefined until the header is read. */
  #header: Header | undefined;
  /** Text that may still be read in vain for the end of a quote. */
  #patience = IN_VAIN_CHARACTERS_MAX;
  /** Reused for each row, to save a million objects. */
  readonly #raw: RawItem = {};
  /** A row that is longer than the text is parsed again when the text has doubled, so that it is not parsed for each chunk. */
  #enoughCharacters = 0;
  /** The length of the last piece in which a row did not end; the next piece is longer. */
  #triedCharacters = 0;
  /** The rest of the current line is skipped. */
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
    if (this.#header === undefined) throw new FeedFileProblem("the file is empty");
  }

  #read(isLast: boolean): void {
    while (this.#text !== "") {
      if (!isLast && this.#text.length < this.#enoughCharacters) return;
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

  /** The end of the next piece of whole lines; undefined: no whole line yet. */
  #endOfPiece(isLast: boolean): number | undefined {
    const { length } = this.#text;
    if (length > this.#pieceCharacters) {
      const inside = this.#text.lastIndexOf("\n", this.#pieceCharacters);
      const end = inside > this.#triedCharacters ? inside : this.#text.indexOf("\n", this.#pieceCharacters);
      if (end !== -1) return end;
    } else if (!isLast) {
      const end = this.#text.lastIndexOf("\n");
      if (end !== -1) return end;
    }
    return isLast ? length : undefined;
  }

  /**
   * Returns false when the last row needs more text. `isFileEnd`: nothing follows the piece; `isTextEnd`: no
   * whole line follows it yet.
   */
  #readPiece(piece: string, { isFileEnd, isTextEnd }: { readonly isFileEnd: boolean; readonly isTextEnd: boolean }): boolean {
    const { data, errors } = Papa.parse(piece, { delimiter: this.#delimiter, newline: "\n" });
    const error = errors.find(({ type }) => type === "Quotes");
    const whole = error?.row ?? data.length;
    this.#enoughCharacters = 0;
    this.#triedCharacters = 0;
    const first = this.#line;
    // A normal piece is shorter than the limit, so it contains no row that is too long.
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
    // The piece ends in the middle of the row.
    const most = this.#patience > 0 ? ROW_CHARACTERS_MAX : VALUE_CHARACTERS_MAX;
    const inVain = piece.length - start;
    if (error.code === "MissingQuotes" && !isFileEnd && (isTextEnd ? this.#text.length : inVain) <= most) {
      this.#pieceCharacters = Math.max(2 * inVain, VALUE_CHARACTERS_MAX + 1);
      this.#triedCharacters = inVain;
      if (isTextEnd && inVain > VALUE_CHARACTERS_MAX) this.#enoughCharacters = 2 * inVain;
      return !isTextEnd;
    }
    if (inVain > VALUE_CHARACTERS_MAX) this.#patience -= inVain;
    this.#badLine(error.code === "MissingQuotes" ? UNCLOSED : TEXT_AFTER_QUOTE);
    return true;
  }

  /** Reports and skips the first line of the text; the next row starts on the next line. */
  #badLine(reason: string): void {
    if (this.#header === undefined) throw new FeedFileProblem(`the header cannot be read: line ${this.#line}: ${reason}`);
    this.#sink.bad(this.#line, reason);
    this.#pieceCharacters = CAREFUL_CHARACTERS;
    this.#isSkipping = true;
    this.#skipLine();
  }

  /** Returns false when the text does not contain the end of the line. */
  #skipLine(): boolean {
    const end = this.#text.indexOf("\n");
    this.#text = end === -1 ? "" : this.#text.slice(end + 1);
    if (end === -1) return false;
    this.#isSkipping = false;
    this.#line++;
    return true;
  }

  /** A carriage return at the end of the line does no harm, because `readItem` trims values. */
  #takeRow(line: number, values: readonly string[], isLong: boolean): void {
    const last = values.length - 1;
    if (last === 0 && values[0]?.trim() === "") return;
    if (this.#header === undefined) {
      this.#header = headerOf(values);
      return;
    }
    const { width, columns } = this.#header;
    if (last >= width && values.slice(width).some((value) => value.trim() !== "")) {
      this.#sink.bad(line, `has ${values.length} values for ${width} columns`);
      return;
    }
    if (isLong && values.reduce((length, value) => length + value.length, 0) > ROW_CHARACTERS_MAX - last) {
      this.#sink.bad(line, TOO_LONG);
      return;
    }
    for (const { field, at } of columns) this.#raw[field] = values[at] ?? "";
    this.#sink.row(line, this.#raw);
  }
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** A quoted value may contain line breaks. */
const linesOf = (values: readonly string[]): number => values.reduce((lines, value) => lines + linesIn(value) - 1, 1);

/** The index of the start of the line `count` lines below the first. */
function startOfLine(text: string, count: number): number {
  let start = 0;
  for (let at = 0; at < count; at++) start = text.indexOf("\n", start) + 1;
  return start;
}

interface Header {
  /** Of all columns. */
  readonly width: number;
  /** Those that an item has; a row costs nothing for others. */
  readonly columns: readonly { readonly field: ItemField; readonly at: number }[];
}

/** Throws `FeedFileProblem` for a header without the required fields, or with a field twice. */
function headerOf(names: readonly string[]): Header {
  const meanings = names.map(fieldOf);
  const best = new Map<ItemField, number>();
  for (const meaning of meanings) {
    if (meaning === undefined) continue;
    const { field, rank } = meaning;
    if (best.get(field) === rank) throw new FeedFileProblem(`the header contains ${field} twice`);
    best.set(field, Math.min(best.get(field) ?? rank, rank));
  }
  const missing = requiredFields.filter((field) => !best.has(field));
  if (missing.length > 0) throw new FeedFileProblem(`the header has no column for ${missing.join(", ")}`);
  const columns = meanings.flatMap((meaning, at) =>
    meaning !== undefined && best.get(meaning.field) === meaning.rank ? [{ field: meaning.field, at }] : [],
  );
  return { width: names.length, columns };
}
