/** CSV and TSV: finds the delimiter and the header, and reads the rows below it by the header's columns. */
import { fieldOf, type ItemField, type RawItem, requiredFields } from "../product-feeds.items.ts";
import { CsvRows } from "./csv-rows.ts";
import { FeedFileProblem, type RowReader, type RowSink } from "./rows.ts";

/** In the order in which they are preferred. */
export const delimiters = [",", "\t", ";", "|"] as const;

interface Header {
  /** The number of all columns. */
  readonly width: number;
  /** The columns with a field of items. */
  readonly columns: readonly { readonly field: ItemField; readonly at: number }[];
}

export class CsvReader implements RowReader {
  readonly #sink: RowSink;
  readonly #rows: CsvRows;
  /** Undefined until the header is read. */
  #header: Header | undefined;
  /** Reused for each row, to save a million objects. */
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

  /** A carriage return at the end of the line does no harm, because `readItem` trims values. */
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

/** D-313: comments, `sep=;`, and rows without text, whatever separates their values. */
const isAboveHeader = (values: readonly string[]): boolean => {
  const first = (values.find((value) => !isBlank(value)) ?? "").trim();
  return first.startsWith("#") || /^sep=.?$/i.test(first) || values.every((value) => /^[\s,;|]*$/.test(value));
};

/** Throws `FeedFileProblem` for a header without the required fields. */
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

/** The delimiter of a `sep=` line, or the one with which the header names most fields. `start`: the beginning of the file. */
export function delimiterOf(start: string, candidates: readonly string[]): string {
  const [, stated] = /^\s*"?sep=([^\r\n"])/i.exec(start) ?? [];
  if (stated !== undefined) return stated;
  const [first = ","] = candidates;
  const counts = new Map(candidates.map((delimiter) => [delimiter, countFields(start, delimiter)]));
  return candidates.reduce((best, delimiter) => ((counts.get(delimiter) ?? 0) > (counts.get(best) ?? 0) ? delimiter : best), first);
}

/** How many fields the header names. */
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
