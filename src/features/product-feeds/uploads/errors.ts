/** What is wrong with the file of an upload, as the graph lists it. */
import type { Row } from "#storage/sql";
import type { RowError } from "../ingestion/ingestion.ts";
import type { UploadRow } from "../ingestion/uploads.store.ts";

export interface UploadErrorRow extends Row {
  severity: "fatal" | "warning";
  summary: string;
  row_number?: number;
  retailer_id?: string;
  field?: string;
}

/** First what is wrong with the file as a whole. */
export function errorsOf({ problem, errors }: UploadRow): UploadErrorRow[] {
  const whole: UploadErrorRow[] = problem === null ? [] : [{ severity: "fatal", summary: problem }];
  const ofRows = (JSON.parse(errors) as readonly RowError[]).map(
    ({ severity, reason, line, ...of }): UploadErrorRow => ({ severity: severity ?? "fatal", summary: reason, row_number: line, ...of }),
  );
  return [...whole, ...ofRows];
}
