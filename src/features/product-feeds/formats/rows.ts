/** What readers of files have in common: rows come out with the line that they begin on; a bad one does not stop the rest. */
import type { RawItem } from "../product-feeds.items.ts";

export const feedFormats = ["csv", "tsv", "xml", "jsonl"] as const;
export type FeedFormat = (typeof feedFormats)[number];

export interface RowSink {
  /** `line` counts from 1; `raw` is used again for the next row. */
  row(line: number, raw: RawItem): void;
  /** A row that cannot even be read as one. */
  bad(line: number, reason: string): void;
}

export interface RowReader {
  /** The next text of the file. Throws `FeedFileProblem`. */
  push(text: string): void;
  /** The file is at its end. Throws `FeedFileProblem`. */
  end(): void;
}

/** The whole file is of no use; nothing of the feed changes. */
export class FeedFileProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "FeedFileProblem";
  }
}
