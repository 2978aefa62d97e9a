/**
 * Uploads of feed files, by the control API and by the graph. A file is stored first and then read by a job, so an
 * accepted upload is ingested even if its process is killed (D-142).
 */

import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { edgeRateLimited } from "#kernel/errors";
import type { Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Bytes } from "../formats/bytes.ts";
import type { FeedFormat } from "../formats/rows.ts";
import { FeedFileProblem } from "../formats/rows.ts";
import { findFeed } from "../product-feeds.store.ts";
import type { RowError } from "./ingestion.ts";
import { scheduleIngestion } from "./jobs.ts";
import { PartWriter } from "./parts.ts";
import type { UploadStatus } from "./upload-statuses.ts";
import {
  completeUpload,
  countWaitingUploads,
  deleteUpload,
  findUpload,
  insertUpload,
  listUploadsOfFeed,
  type UploadCounts,
  type UploadKey,
  type UploadRow,
} from "./uploads.store.ts";

/** An upload as the control API returns it. Times are Unix seconds of the world's clock. */
export interface UploadReport extends UploadCounts {
  readonly feed: string;
  readonly n: number;
  readonly status: UploadStatus;
  readonly source: "file" | "url";
  readonly url?: string;
  readonly file_name?: string;
  readonly format?: FeedFormat;
  /** D-148: the items of the file are added to those of the feed. */
  readonly update_only?: true;
  readonly bytes: number;
  readonly created_time: number;
  readonly started_time?: number;
  readonly ended_time?: number;
  /** Why the upload failed. */
  readonly problem?: string;
  /** The first hundred, by line. */
  readonly errors: readonly RowError[];
}

export const hasFeed = async (reader: Reader, feed: string): Promise<boolean> => (await findFeed(reader, feed)) !== undefined;

export async function findReport(reader: Reader, feed: string, n: number): Promise<UploadReport | undefined> {
  const row = await findUpload(reader, feed, n);
  return row === undefined ? undefined : reportOf(row);
}

export async function listReports(reader: Reader, feed: string, page: PageRequest): Promise<ListPage<UploadReport>> {
  const found = await listUploadsOfFeed(reader, feed, page);
  return { ...found, rows: found.rows.map(reportOf) };
}

function reportOf(row: UploadRow): UploadReport {
  const { feed, n, status, source, bytes, created_time, rows, items, items_added, items_replaced, items_removed, bad_rows, duplicates } = row;
  return {
    feed,
    n,
    status: status as UploadStatus,
    source,
    ...(row.url === null ? {} : { url: row.url }),
    ...(row.file_name === null ? {} : { file_name: row.file_name }),
    ...(row.format === null ? {} : { format: row.format as FeedFormat }),
    ...(row.is_update === 1 ? { update_only: true } : {}),
    bytes,
    created_time,
    ...(row.started_time === 0 ? {} : { started_time: row.started_time }),
    ...(row.ended_time === 0 ? {} : { ended_time: row.ended_time }),
    ...{ rows, items, items_added, items_replaced, items_removed, bad_rows, duplicates },
    ...(row.problem === null ? {} : { problem: row.problem }),
    errors: JSON.parse(row.errors),
  };
}

export interface UploadInput {
  readonly file_name?: string | undefined;
  /** Detected by default. */
  readonly format?: FeedFormat | undefined;
  /** D-148. */
  readonly isUpdate: boolean;
  /** More uploads of the feed may not wait; without one, any number may. */
  readonly waitingMax?: number;
}

const RETRY_SECONDS = 60;

async function beginUpload(tx: Transaction, world: World, feed: string, url: string | undefined, input: UploadInput): Promise<UploadKey | undefined> {
  const { file_name, format, isUpdate, waitingMax } = input;
  const created_time = unixSeconds(world.clock);
  const key = await insertUpload(tx, world.ids, feed, { source: url === undefined ? "file" : "url", url, file_name, created_time, format, isUpdate });
  // Inserting holds the feed, so that no two count at a time.
  if (key !== undefined && waitingMax !== undefined && (await countWaitingUploads(tx, feed)) > waitingMax) throw edgeRateLimited(RETRY_SECONDS);
  return key;
}

/** Stores the file and schedules its ingestion. Returns undefined when the feed does not exist. Throws `edgeRateLimited` beyond `waitingMax`. */
export async function receiveFile(world: World, feed: string, file: Bytes, input: UploadInput): Promise<UploadKey | undefined> {
  const key = await world.database.write((tx) => beginUpload(tx, world, feed, undefined, input));
  if (key === undefined) return undefined;
  const { n } = key;
  try {
    const parts = new PartWriter(world, feed, n);
    for await (const bytes of file) await parts.write(bytes);
    const bytes = await parts.end();
    await world.database.write(async (tx) => {
      if (!(await completeUpload(tx, feed, n, bytes, "receiving", "pending"))) throw new FeedFileProblem("the feed was deleted during the upload");
      await scheduleIngestion(tx, world, feed);
    });
    return key;
  } catch (error) {
    // The job of the feed deletes the stored parts.
    await world.database.write(async (tx) => {
      await deleteUpload(tx, feed, n);
      await scheduleIngestion(tx, world, feed);
    });
    throw error;
  }
}

/** Schedules fetching and ingesting the file at an address. Returns undefined when the feed does not exist. Throws `edgeRateLimited` beyond `waitingMax`. */
export async function receiveUrl(tx: Transaction, world: World, feed: string, url: string, input: UploadInput): Promise<UploadKey | undefined> {
  const key = await beginUpload(tx, world, feed, url, input);
  if (key !== undefined) await scheduleIngestion(tx, world, feed);
  return key;
}
