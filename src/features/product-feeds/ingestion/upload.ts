/** The stored form of an upload of a feed file: the upload's status, its counts, and the problems of its file. */
import type { Row } from "#storage/sql";
import type { ItemField } from "../product-feeds.items.ts";

/**
 * `receiving`: the file is being received. `pending`: the file or its address is stored. `running`: a process is reading the file, or another process
 * will read it because the first one was stopped. `done`: the feed shows the items of the file. `failed`: the feed has not changed.
 */
export const uploadStatuses = ["receiving", "pending", "running", "done", "failed"] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** Counts of the rows that the current run has read so far. */
export interface UploadCounts {
  /** The number of all rows, good and bad. */
  readonly rows: number;
  readonly items: number;
  readonly items_added: number;
  readonly items_replaced: number;
  readonly items_removed: number;
  readonly bad_rows: number;
  /** Rows that replaced an earlier row with the same retailer_id (D-141). */
  readonly duplicates: number;
}

export interface UploadRow extends Row {
  /** The id of the upload's node. */
  id: string;
  feed: string;
  n: number;
  status: string;
  source: "file" | "url";
  url: string | null;
  file_name: string | null;
  format: string | null;
  /** The value is 1 if the items of the file are added to the items of the feed (D-148). */
  is_update: number;
  /** The value is 1 if the whole file is stored. */
  is_complete: number;
  bytes: number;
  /** The generation that the current run writes; 0 before the first run. */
  generation: number;
  created_time: number;
  started_time: number;
  ended_time: number;
  rows: number;
  items: number;
  items_added: number;
  items_replaced: number;
  items_removed: number;
  bad_rows: number;
  duplicates: number;
  problem: string | null;
  /** The report: a JSON list of `RowError`. */
  errors: string;
}

/** An entry of an upload's report: a bad row, a repeated row, or a value that was left out. */
export interface RowError {
  /** An entry is a warning if the item of the row is kept. */
  readonly severity?: "warning";
  readonly line: number;
  readonly retailer_id?: string;
  readonly field?: ItemField;
  readonly reason: string;
}

/** A problem of an upload's file, as the Graph API lists it. */
export interface UploadErrorRow extends Row {
  severity: "fatal" | "warning";
  summary: string;
  row_number?: number;
  retailer_id?: string;
  field?: string;
}

/** Returns the problems of an upload. A problem of the whole file is the first of the list. */
export function errorsOf({ problem, errors }: UploadRow): UploadErrorRow[] {
  const whole: UploadErrorRow[] = problem === null ? [] : [{ severity: "fatal", summary: problem }];
  const ofRows = (JSON.parse(errors) as readonly RowError[]).map(
    ({ severity, reason, line, ...of }): UploadErrorRow => ({ severity: severity ?? "fatal", summary: reason, row_number: line, ...of }),
  );
  return [...whole, ...ofRows];
}
