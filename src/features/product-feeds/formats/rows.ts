/**
 * The interface of the readers of feed files. A reader passes each row to a sink, with the line on which the row starts; a bad row does not stop the
 * reader.
 */
import type { ItemField, RawItem } from "../product-feeds.items.ts";

export const feedFormats = ["csv", "tsv", "xml", "jsonl"] as const;
export type FeedFormat = (typeof feedFormats)[number];

/** A wrong value of a row; the item is kept without this value (D-141). */
export interface Warning {
  readonly field: ItemField;
  readonly reason: string;
}

export interface RowSink {
  /**
   * Takes a row. `line` is the line on which the row begins, counted from 1. The sink must not keep `raw`, because the reader uses the same object
   * for the next row. `warnings` lists the values of the row that the reader left out.
   */
  row(line: number, raw: RawItem, warnings?: readonly Warning[]): void;
  /** Receives a row that the reader cannot parse, with the reason. */
  bad(line: number, reason: string): void;
  /** Receives a warning that concerns the whole file, such as a repeated column. A warning about the file does not change the file's items. */
  warn(line: number, field: ItemField, reason: string): void;
}

export interface RowReader {
  /** Receives the next piece of the file's text. Throws `FeedFileProblem` if the file cannot be used. */
  push(text: string): void;
  /** Tells the reader that the file has ended. Throws `FeedFileProblem` if the file cannot be used. */
  end(): void;
}

/** The error for a file that cannot be used at all. The feed does not change if its file cannot be used (D-140). */
export class FeedFileProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "FeedFileProblem";
  }
}
