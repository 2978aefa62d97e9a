/**
 * Reads a feed file in a process of its own (D-314). The parent process asks for each piece of items, so the file is not read faster than the parent
 * stores the items.
 */
import { type Bytes, textOf } from "../formats/bytes.ts";
import { FeedTextReader } from "../formats/formats.ts";
import { FeedFileProblem, type FeedFormat, type RowSink, type Warning } from "../formats/rows.ts";
import { BadItem, type ItemField, type RawItem, readRow } from "../product-feeds.items.ts";
import { BAD_ROWS_KEPT_MAX, ROWS_MAX, ROWS_PER_WRITE } from "../product-feeds.limits.ts";
import type { RowError } from "./upload.ts";

/** A valid item of a file. */
interface ReadItem {
  readonly line: number;
  /**
   * The position of the item in its file, which is different for each item: the line of the row, or the number of the row in formats with several
   * rows on a line.
   */
  readonly position: number;
  readonly retailer_id: string;
  /** The item as it is stored, written by `textOfItem`. */
  readonly item: string;
}

/** The valid items that were read since the previous piece, with the counts and problems of the whole file so far. */
export interface Piece {
  /** The valid items of the piece: at most the number of items that one write stores. */
  readonly items: readonly ReadItem[];
  /** The number of all rows that were read so far, good and bad. */
  readonly rows: number;
  readonly bad_rows: number;
  /** The first hundred bad rows and the first hundred warnings of the whole file. */
  readonly errors: readonly RowError[];
  readonly format: FeedFormat | undefined;
  /** The reason why the file as a whole cannot be used; absent if the file can be used. */
  readonly problem?: string;
}

class Reading implements RowSink {
  readonly items: ReadItem[] = [];
  readonly errors: RowError[] = [];
  rows = 0;
  bad_rows = 0;
  #warnings = 0;
  readonly reader: FeedTextReader;

  constructor(format: FeedFormat | undefined) {
    this.reader = new FeedTextReader(format, this);
  }

  row(line: number, raw: RawItem, warnings: readonly Warning[] = []): void {
    this.#countRow();
    const item = readRow(raw, (wrong) => this.#leaveOut(line, raw, wrong));
    if (item instanceof BadItem) {
      const { field, reason } = item;
      this.#refuse({ line, ...idOf(raw), ...(field === undefined ? {} : { field }), reason });
      return;
    }
    for (const warning of warnings) this.#leaveOut(line, raw, warning);
    // Several items of an XML file may be on one line, so the position of an item is the number of its row and not of its line.
    const position = this.reader.format === "xml" ? this.rows : line;
    this.items.push({ line, position, retailer_id: item.retailer_id, item: item.text });
  }

  bad(line: number, reason: string): void {
    this.#countRow();
    this.#refuse({ line, reason });
  }

  warn(line: number, field: ItemField, reason: string): void {
    if (this.#warnings++ < BAD_ROWS_KEPT_MAX) this.errors.push({ severity: "warning", line, field, reason });
  }

  take(problem?: string): Piece {
    const { rows, bad_rows, reader } = this;
    const [items, errors] = [this.items.splice(0, ROWS_PER_WRITE), this.errors.splice(0)];
    return { items, errors, rows, bad_rows, format: reader.format, ...(problem === undefined ? {} : { problem }) };
  }

  #countRow(): void {
    if (++this.rows > ROWS_MAX) throw new FeedFileProblem(`the file has more than ${ROWS_MAX} rows`);
  }

  #refuse(error: RowError): void {
    if (this.bad_rows++ < BAD_ROWS_KEPT_MAX) this.errors.push(error);
  }

  /** D-141: reports a wrong value. The item is stored without the wrong value. */
  #leaveOut(line: number, raw: RawItem, { field, reason }: { readonly field: ItemField | undefined; readonly reason: string }): void {
    if (this.#warnings++ >= BAD_ROWS_KEPT_MAX) return;
    const of = { ...idOf(raw), ...(field === undefined ? {} : { field }) };
    this.errors.push({ severity: "warning", line, ...of, reason: `${reason}; the item is kept without this value` });
  }
}

/** Reads a file. Yields the items of a file in pieces, one for each write, and the last piece at the end of the file. */
export async function* readFeed(file: Bytes, format: FeedFormat | undefined): AsyncGenerator<Piece> {
  const reading = new Reading(format);
  try {
    for await (const text of textOf(file)) {
      reading.reader.push(text);
      while (reading.items.length >= ROWS_PER_WRITE) yield reading.take();
    }
    reading.reader.end();
    do yield reading.take();
    while (reading.items.length > 0);
  } catch (error) {
    if (!(error instanceof FeedFileProblem)) throw error;
    yield reading.take(error.message);
  }
}

/** The greatest number of characters of a bad row's retailer_id in the report. */
const RETAILER_ID_SHOWN_MAX = 100;

function idOf({ retailer_id }: RawItem): { retailer_id?: string } {
  const text = retailer_id?.trim().slice(0, RETAILER_ID_SHOWN_MAX).toWellFormed().replaceAll("\u0000", "\uFFFD");
  return text === undefined || text === "" ? {} : { retailer_id: text };
}
