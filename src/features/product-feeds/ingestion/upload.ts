/** An upload of a feed file, as it is stored: its status, its counts, and the problems of its file. */
import type { Row } from "#storage/sql";
import type { ItemField } from "../product-feeds.items.ts";

/**
 * `receiving`: the file is being received. `pending`: the file or its address is stored. `running`: the file is being read, or will
 * be when another process has taken over. `done`: the feed shows its items. `failed`: the feed has not changed.
 */
export const uploadStatuses = ["receiving", "pending", "running", "done", "failed"] as const;
export type UploadStatus = (typeof uploadStatuses)[number];

/** Counts of the rows read so far. */
export interface UploadCounts {
  /** All rows, good and bad. */
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
  /** Its node. */
  id: string;
  feed: string;
  n: number;
  status: string;
  source: "file" | "url";
  url: string | null;
  file_name: string | null;
  format: string | null;
  /** 1: the items of the file are added to those of the feed (D-148). */
  is_update: number;
  /** 1 when the whole file is stored. */
  is_complete: number;
  bytes: number;
  /** The generation of the current run; 0: none yet. */
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
  /** A JSON list of `RowError`. */
  errors: string;
}

/** A bad or repeated row in the report, or a value that was left out. */
export interface RowError {
  /** The item of the row is kept. */
  readonly severity?: "warning";
  readonly line: number;
  readonly retailer_id?: string;
  readonly field?: ItemField;
  readonly reason: string;
}

/** A problem of an upload's file, as the graph lists it. */
export interface UploadErrorRow extends Row {
  severity: "fatal" | "warning";
  summary: string;
  row_number?: number;
  retailer_id?: string;
  field?: string;
}

/** The problem of the whole file comes first. */
export function errorsOf({ problem, errors }: UploadRow): UploadErrorRow[] {
  const whole: UploadErrorRow[] = problem === null ? [] : [{ severity: "fatal", summary: problem }];
  const ofRows = (JSON.parse(errors) as readonly RowError[]).map(
    ({ severity, reason, line, ...of }): UploadErrorRow => ({ severity: severity ?? "fatal", summary: reason, row_number: line, ...of }),
  );
  return [...whole, ...ofRows];
}
