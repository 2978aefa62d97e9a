/**
 * The log as a Parquet file for analysis; the columns are the fields of `LogEntry`. It is written in row groups, so a log of any
 * length needs the memory of one group and some bytes for each further one.
 */
import type { SchemaElement } from "hyparquet";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { exportPages, type LogEntry, logEntry } from "./log.handlers.ts";
import type { EventRow, LogFilter } from "./log.store.ts";

type Shape = Omit<SchemaElement, "name" | "repetition_type">;

const TEXT: Shape = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
const JSON_TEXT: Shape = { type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } };
const TIME: Shape = { type: "INT64", converted_type: "TIMESTAMP_MILLIS", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } };
const NUMBER: Shape = { type: "INT32" };
/** D-70: 12 digits before the point and 6 after it are 18 digits of millionths, which fit an INT64. */
const AMOUNT: Shape = {
  type: "INT64",
  converted_type: "DECIMAL",
  precision: 18,
  scale: 6,
  logical_type: { type: "DECIMAL", precision: 18, scale: 6 },
};

interface Column {
  readonly name: keyof LogEntry;
  readonly shape: Shape;
  readonly isOptional?: true;
  /** The value for the writer, unless it is the entry's own. */
  readonly of?: (row: EventRow) => unknown;
}

const columns: readonly Column[] = [
  { name: "id", shape: TEXT },
  { name: "event", shape: TEXT },
  { name: "event_name", shape: TEXT, isOptional: true },
  { name: "event_id", shape: TEXT, isOptional: true },
  { name: "event_time", shape: TIME, of: ({ time }) => BigInt(time) * 1_000n },
  { name: "received_time", shape: TIME, of: ({ received }) => BigInt(received) * 1_000n },
  { name: "value_to_sum", shape: AMOUNT, isOptional: true, of: ({ value }) => (value === null ? undefined : BigInt(value)) },
  { name: "parameters", shape: JSON_TEXT },
  { name: "advertiser_id", shape: TEXT, isOptional: true },
  { name: "attribution", shape: TEXT, isOptional: true },
  { name: "ip", shape: TEXT, isOptional: true },
  { name: "extinfo", shape: JSON_TEXT, isOptional: true },
  { name: "application_tracking_enabled", shape: NUMBER },
  { name: "advertiser_tracking_enabled", shape: NUMBER },
  { name: "ud", shape: JSON_TEXT },
  { name: "dropped_user_data", shape: NUMBER },
];

const schema: SchemaElement[] = [
  { name: "app_events", num_children: columns.length },
  ...columns.map(({ name, shape, isOptional }): SchemaElement => ({ ...shape, name, repetition_type: isOptional ? "OPTIONAL" : "REQUIRED" })),
];

/** Rows of one group. Writing one blocks the process for some 20 ms; smaller groups would make the file slower to read. */
const GROUP_ROWS = 5_000;

/** Newest first. Each chunk is one group of rows; the last one is the file's footer. */
export async function* exportParquet(world: World, app: NodeId, filter: LogFilter): AsyncGenerator<Uint8Array> {
  // Loaded with the first export, so that it does not delay the start of the server.
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema, createdBy: "plaza" });
  const take = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  let group: EventRow[] = [];
  const write = async (): Promise<Uint8Array> => {
    await file.write({ columnData: columnsOf(group), rowGroupSize: group.length });
    group = [];
    return take();
  };
  for await (const page of exportPages(world, app, filter)) {
    group.push(...page);
    if (group.length >= GROUP_ROWS) yield await write();
  }
  if (group.length > 0) yield await write();
  await file.finish();
  yield take();
}

function columnsOf(rows: readonly EventRow[]): { name: string; data: unknown[] }[] {
  const entries = rows.map(logEntry);
  return columns.map(({ name, of }) => ({ name, data: of === undefined ? entries.map((entry) => entry[name]) : rows.map(of) }));
}
