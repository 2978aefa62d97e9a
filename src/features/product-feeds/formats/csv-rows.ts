/**
 * Splits the text of CSV and TSV files into rows (RFC 4180, with any one character as the delimiter). The text may arrive in pieces of any length.
 * The sink gets a row when the end of the row has arrived. A row ends with `\n` or `\r\n`. Blanks after a closing quote do not belong to the value.
 *
 * After a row with wrong quotes, the reader continues with the second line of the row. The reader does not continue after the end of such a row,
 * because an unclosed quote makes the rest of the file belong to the row.
 */
import { RESCANNED_CHARACTERS_MAX, ROW_CHARACTERS_MAX } from "../product-feeds.limits.ts";

interface CsvRowSink {
  /** Receives the values of a row. `line` is the line on which the row begins, counted from 1. */
  values(line: number, values: readonly string[]): void;
  bad(line: number, reason: string): void;
}

const QUOTE = '"';
const UNCLOSED = "a quote is not closed";
const TEXT_AFTER_QUOTE = "text follows a closing quote";
const TOO_LONG = `is longer than ${ROW_CHARACTERS_MAX} characters`;
/**
 * The greatest number of characters that a row has in the file. In the file a row may be twice as long as its values, because a quote in a value is
 * written as two quotes.
 */
const WRITTEN_CHARACTERS_MAX = 2 * ROW_CHARACTERS_MAX;

interface Row {
  /** The index in the text at which the row ends, or at which the problem of the row was found. */
  readonly end: number;
  readonly lines: number;
  readonly values: readonly string[];
  readonly problem?: string;
}

export class CsvRows {
  readonly #delimiter: string;
  readonly #sink: CsvRowSink;
  #text = "";
  /** The index of the next row in the text (`#start`), and the line of the file on which the row begins (`#line`). */
  #start = 0;
  #line = 1;
  /** Whether the text begins with the rest of a line that the reader skips. */
  #isSkipping = false;
  /**
   * When the text has this length, an incomplete row is read again. The length is twice the last length, so that the row is not read again for each
   * new piece of text.
   */
  #enoughCharacters = 0;
  /**
   * The number of characters that were removed from the text after they were read (`#passed`), and the number of characters that were read twice
   * (`#rescanned`).
   */
  #passed = 0;
  #rescanned = 0;

  constructor(delimiter: string, sink: CsvRowSink) {
    this.#delimiter = delimiter;
    this.#sink = sink;
  }

  push(text: string): void {
    this.#text += text;
    if (this.#text.length < this.#enoughCharacters) return;
    while (this.#next(false));
    this.#passed += this.#start;
    this.#text = this.#text.slice(this.#start);
    this.#start = 0;
    this.#enoughCharacters = 2 * this.#text.length;
  }

  end(): void {
    while (this.#next(true));
  }

  /** Passes the next row to the sink, or skips the rest of a line. Returns false if the end of the row or line has not arrived yet. */
  #next(isLast: boolean): boolean {
    const text = this.#text;
    const start = this.#start;
    if (start >= text.length) return false;
    const lineEnd = endOfLine(text, start);
    const hasNewline = lineEnd < text.length;
    if (this.#isSkipping) {
      this.#isSkipping = !hasNewline;
      this.#goBehind(lineEnd, hasNewline ? 1 : 0);
      return true;
    }
    const row = this.#rowAt(lineEnd, hasNewline || isLast, isLast);
    if (row === undefined) return false;
    const { end, lines, values, problem } = row;
    if (problem !== undefined) {
      this.#sink.bad(this.#line, problem);
      this.#rescanned += Math.max(0, end - lineEnd);
      this.#isSkipping = true;
      return true;
    }
    if (end - start > ROW_CHARACTERS_MAX && lengthOf(values) > ROW_CHARACTERS_MAX) this.#sink.bad(this.#line, TOO_LONG);
    else this.#sink.values(this.#line, values);
    this.#goBehind(end, lines);
    return true;
  }

  #goBehind(end: number, lines: number): void {
    this.#start = end + 1;
    this.#line += lines;
  }

  /** Reads the next row. Returns undefined if the end of the row has not arrived. */
  #rowAt(lineEnd: number, isWholeLine: boolean, isLast: boolean): Row | undefined {
    const line = this.#text.slice(this.#start, lineEnd);
    const mayHaveMoreLines = this.#rescanned <= RESCANNED_CHARACTERS_MAX + this.#passed + this.#start;
    if (line.includes(QUOTE)) {
      if (mayHaveMoreLines) return quotedRow(this.#text, this.#start, this.#delimiter, isLast);
      if (isWholeLine) return quotedRow(this.#text.slice(0, lineEnd), this.#start, this.#delimiter, true);
    }
    if (line.length > WRITTEN_CHARACTERS_MAX) return { end: lineEnd, lines: 1, values: [], problem: TOO_LONG };
    return isWholeLine ? { end: lineEnd, lines: 1, values: line.split(this.#delimiter) } : undefined;
  }
}

/** Reads the row that begins at `start`, which has quotes. Returns undefined if the end of the row has not arrived. */
function quotedRow(text: string, start: number, delimiter: string, isLast: boolean): Row | undefined {
  const values: string[] = [];
  const most = start + WRITTEN_CHARACTERS_MAX;
  const wrong = (problem: string, end: number): Row => ({ end: Math.min(end, most), lines: 1, values, problem });
  let lines = 1;
  let newline = -1;
  for (let at = start; ; ) {
    let end: number;
    if (text[at] === QUOTE) {
      const close = closingQuote(text, at);
      // A quote at the end of the text may be the first of two quotes, so the parser needs the next character.
      const isClosed = close < text.length && (isLast || close + 1 < text.length);
      if (!isClosed || close > most) return isLast || text.length > most ? wrong(UNCLOSED, close) : undefined;
      const value = text.slice(at + 1, close);
      values.push(value.replaceAll('""', QUOTE));
      lines += linesIn(value) - 1;
      end = close + 1;
      while (isBlank(text[end]) && text[end] !== delimiter) end++;
    } else {
      if (newline < at) newline = endOfLine(text, at);
      const found = text.slice(at, newline).indexOf(delimiter);
      end = found === -1 ? newline : at + found;
      values.push(text.slice(at, end));
    }
    if (end > most) return wrong(TOO_LONG, end);
    if (end >= text.length) return isLast ? { end, lines, values } : undefined;
    if (text[end] === "\n") return { end, lines, values };
    if (text[end] !== delimiter) return wrong(TEXT_AFTER_QUOTE, end);
    at = end + 1;
  }
}

/** Returns the index of the quote that closes the quote at `open`, or the length of the text if no quote closes it. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf(QUOTE, open + 1); at !== -1; at = text.indexOf(QUOTE, at + 2)) if (text[at + 1] !== QUOTE) return at;
  return text.length;
}

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t" || character === "\r";

/** Returns the length of a row: its values and the delimiters between them. */
const lengthOf = (values: readonly string[]): number => values.reduce((length, value) => length + value.length, values.length - 1);

/** Returns the index of the next newline, or the length of the text if no newline follows. */
function endOfLine(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
