/** Reads CSV and TSV files: finds the delimiter and the header, and reads the rows below the header by its columns. */
import { fieldOf, type ItemField, type RawItem, requiredFields } from "../product-feeds.items.ts";
import { CsvRows } from "./csv-rows.ts";
import { FeedFileProblem, type RowReader, type RowSink } from "./rows.ts";

/** The delimiters that Plaza can detect, in the order of preference. */
export const delimiters = [",", "\t", ";", "|"] as const;

interface Header {
  /** The number of columns that the header has. */
  readonly width: number;
  /** The columns whose names are fields of items. */
  readonly columns: readonly { readonly field: ItemField; readonly at: number }[];
}

export class CsvReader implements RowReader {
  readonly #sink: RowSink;
  readonly #rows: CsvRows;
  /** The header of the file; undefined until the header is read. */
  #header: Header | undefined;
  /** The values of the current row. The same object is used for every row, so that a million rows do not need a million objects. */
  readonly #raw: RawItem = {};

  constructor(delimiter: string, sink: RowSink) {
    this.#sink = sink;
    this.#rows = new CsvRows(delimiter, {
      values: (line, values) => this.#take(line, values),
      bad: (line, reason) => this.#refuse(line, reason),
    });
  }

  push(text: string): void {
    this.#rows.push(text);
  }

  end(): void {
    this.#rows.end();
    if (this.#header === undefined) throw new FeedFileProblem("the file is empty");
  }

  #refuse(line: number, reason: string): void {
    if (this.#header === undefined) throw new FeedFileProblem(`the header cannot be read: line ${line}: ${reason}`);
    this.#sink.bad(line, reason);
  }

  /** Receives the values of a row. A carriage return at the end of the last value does no harm, because `readItem` trims values. */
  #take(line: number, values: readonly string[]): void {
    if (this.#header === undefined) {
      if (!isAboveHeader(values))
        this.#header = headerOf(values, (field) => this.#sink.warn(line, field, "the column is repeated; its first value is used"));
      return;
    }
    if (values.every(isBlank)) return;
    const { width, columns } = this.#header;
    if (values.length > width && !values.slice(width).every(isBlank)) {
      this.#sink.bad(line, `has ${values.length} values for ${width} columns`);
      return;
    }
    for (const { field, at } of columns) this.#raw[field] = values[at] ?? "";
    this.#sink.row(line, this.#raw);
  }
}

const isBlank = (value: string): boolean => value.trim() === "";

/**
 * D-313: returns whether a row may precede the header. Only comments, lines such as `sep=;`, and rows that have only blanks and delimiters may
 * precede the header.
 */
const isAboveHeader = (values: readonly string[]): boolean => {
  const first = (values.find((value) => !isBlank(value)) ?? "").trim();
  return first.startsWith("#") || /^sep=.?$/i.test(first) || values.every((value) => /^[\s,;|]*$/.test(value));
};

/** Reads the header. Throws `FeedFileProblem` if the header lacks a required field. */
function headerOf(names: readonly string[], warnRepeated: (field: ItemField) => void): Header {
  const meanings = names.map(fieldOf);
  const best = new Map<ItemField, { readonly rank: number; readonly at: number }>();
  for (const [at, meaning] of meanings.entries()) {
    if (meaning === undefined) continue;
    const { field, rank } = meaning;
    const known = best.get(field);
    if (known?.rank === rank) warnRepeated(field);
    else if (known === undefined || rank < known.rank) best.set(field, { rank, at });
  }
  const missing = requiredFields.filter((field) => !best.has(field));
  if (missing.length > 0) throw new FeedFileProblem(`the header has no column for ${missing.join(", ")}`);
  return { width: names.length, columns: [...best].map(([field, { at }]) => ({ field, at })) };
}

/**
 * Returns the delimiter of a `sep=` line, or the delimiter with which the header names the most fields of items. `start` is the beginning of the
 * file's text.
 */
export function delimiterOf(start: string, candidates: readonly string[]): string {
  const [, stated] = /^\s*"?sep=([^\r\n"])/i.exec(start) ?? [];
  if (stated !== undefined) return stated;
  const [first = ","] = candidates;
  const counts = new Map(candidates.map((delimiter) => [delimiter, countFields(start, delimiter)]));
  return candidates.reduce((best, delimiter) => ((counts.get(delimiter) ?? 0) > (counts.get(best) ?? 0) ? delimiter : best), first);
}

/** Returns the number of columns in the header that name fields of items, if `delimiter` separates the columns. */
function countFields(start: string, delimiter: string): number {
  let header: readonly string[] | undefined;
  const rows = new CsvRows(delimiter, {
    values: (_line, values) => {
      if (header === undefined && !isAboveHeader(values)) header = values;
    },
    bad: () => {
      header ??= [];
    },
  });
  rows.push(start);
  rows.end();
  return (header ?? []).filter((name) => fieldOf(name) !== undefined).length;
}
