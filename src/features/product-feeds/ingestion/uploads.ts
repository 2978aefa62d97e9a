/**
 * Accepts uploads of feed files from the control API and from the Graph API. A file is stored first, and a job reads it afterwards, so an accepted
 * upload is ingested even if the process that accepted it is killed (D-142).
 */

import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { edgeRateLimited } from "#kernel/errors";
import type { Transaction } from "#storage/database";
import type { Bytes } from "../formats/bytes.ts";
import { FeedFileProblem, type FeedFormat } from "../formats/rows.ts";
import { PartWriter } from "./files.ts";
import { scheduleIngestion } from "./jobs.ts";
import { completeUpload, countWaitingUploads, deleteUpload, insertUpload, type UploadKey } from "./uploads.store.ts";

export interface UploadInput {
  readonly file_name?: string | undefined;
  /** The format of the file; undefined if Plaza must detect the format. */
  readonly format?: FeedFormat | undefined;
  /** D-148: whether the items of the file are added to the items of the feed, instead of replacing them. */
  readonly isUpdate: boolean;
  /** The greatest number of uploads of the feed that may wait; undefined if any number may wait. */
  readonly waitingMax?: number;
}

const RETRY_SECONDS = 60;

async function beginUpload(tx: Transaction, world: World, feed: string, url: string | undefined, input: UploadInput): Promise<UploadKey | undefined> {
  const { file_name, format, isUpdate, waitingMax } = input;
  const created_time = unixSeconds(world.clock);
  const key = await insertUpload(tx, world.ids, feed, { source: url === undefined ? "file" : "url", url, file_name, created_time, format, isUpdate });
  // The insert above locks the feed, so two requests never count the waiting uploads at the same time.
  if (key !== undefined && waitingMax !== undefined && (await countWaitingUploads(tx, feed)) > waitingMax) throw edgeRateLimited(RETRY_SECONDS);
  return key;
}

/**
 * Stores a file and schedules its ingestion. Returns undefined if the feed does not exist. Throws `edgeRateLimited` if more than `waitingMax` uploads
 * wait.
 */
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
    // The job of the feed later deletes the stored parts of the file.
    await world.database.write(async (tx) => {
      await deleteUpload(tx, feed, n);
      await scheduleIngestion(tx, world, feed);
    });
    throw error;
  }
}

/**
 * Schedules the fetching and ingestion of the file at an address. Returns undefined if the feed does not exist. Throws `edgeRateLimited` if more than
 * `waitingMax` uploads wait.
 */
export async function receiveUrl(tx: Transaction, world: World, feed: string, url: string, input: UploadInput): Promise<UploadKey | undefined> {
  const key = await beginUpload(tx, world, feed, url, input);
  if (key !== undefined) await scheduleIngestion(tx, world, feed);
  return key;
}
