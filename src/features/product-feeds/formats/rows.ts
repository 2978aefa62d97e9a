/** The interface of file readers. They pass rows to a sink with the line on which the row starts; a bad row does not stop them. */
import type { ItemField, RawItem } from "../product-feeds.items.ts";

export const feedFormats = ["csv", "tsv", "xml", "jsonl"] as const;
export type FeedFormat = (typeof feedFormats)[number];

/** A wrong value; the item is kept without it (D-141). */
export interface Warning {
  readonly field: ItemField;
  readonly reason: string;
}

export interface RowSink {
  /** `line` counts from 1. The reader reuses `raw` for the next row. `warnings`: values that the reader left out. */
  row(line: number, raw: RawItem, warnings?: readonly Warning[]): void;
  /** A row that the reader cannot parse. */
  bad(line: number, reason: string): void;
  /** A problem with a field in the whole file. It changes no item. */
  warn(line: number, field: ItemField, reason: string): void;
}

export interface RowReader {
  /** Takes the next text of the file. Throws `FeedFileProblem`. */
  push(text: string): void;
  /** Takes the end of the file. Throws `FeedFileProblem`. */
  end(): void;
}

/** The file cannot be used as a whole, so the feed does not change (D-140). */
export class FeedFileProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "FeedFileProblem";
  }
}
