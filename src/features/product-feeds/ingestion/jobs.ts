/**
 * The job of a feed ingests the feed's uploads one by one in the order of arrival, and deletes data that is no longer needed (D-142). Each feed has
 * only one job, so that two files of a feed are never read at the same time.
 */
import type { World } from "#graph/worlds/world";
import { ChildDied } from "#jobs/child-process";
import type { JobKind, RunningJob } from "#jobs/job-kind";
import { unixSeconds } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { Bytes } from "../formats/bytes.ts";
import type { FeedFormat } from "../formats/rows.ts";
import { deleteItems } from "../items.store.ts";
import { READERS_MAX, ROWS_PER_WRITE, RUNS_MAX, UPLOADS_KEPT_MAX } from "../product-feeds.limits.ts";
import { beginGeneration, deleteGeneration, findFeed, findSpareGeneration } from "../product-feeds.store.ts";
import { fetchFile } from "./files.ts";
import { Ingestion, type ShownItems, UploadLost } from "./ingestion.ts";
import { readInChild } from "./reading-process.ts";
import type { UploadRow } from "./upload.ts";
import { claimUpload, deleteOldUploads, deleteParts, findPart, findSparePart, findWaitingUpload, type RunningUpload } from "./uploads.store.ts";

const KIND = "feed_ingestion";

/** An upload that is still being received after this time is deleted, because its sender or the receiving process has stopped. */
const RECEIVING_SECONDS_MAX = 86_400;
/** The number of file parts that one write deletes: 8 MB. */
const PARTS_PER_WRITE = 8;

/**
 * D-147: the greatest number of ingestions at the same time. The number is limited because callers cause ingestions, and reading a file may take
 * minutes, and fetching a file half an hour. Therefore the ingestions of all feeds together may use only half of the capacity for jobs, and the
 * ingestions of one catalog only an eighth.
 */
const AT_ONCE_MAX = { running: 4, waiting: 32, ofShare: 8 };

export const feedIngestion: JobKind<World> = { kind: KIND, atOnceMax: AT_ONCE_MAX, run: ingestFeed };

/**
 * Schedules the job of a feed. The caller passes the transaction that creates work for the job. A lock prevents a running job from ending before the
 * transaction is committed.
 */
export async function scheduleIngestion(tx: Transaction, world: World, feed: string): Promise<void> {
  await tx.lock(KIND, feed);
  // A running job looks for more work before it ends. A running job is not scheduled again, because this would make its current run fail.
  if ((await world.jobs.dueTimeOf(tx, KIND, feed)) !== undefined) return;
  const share = (await findFeed(tx, feed))?.catalog ?? "";
  await world.jobs.schedule(tx, { kind: KIND, key: feed, share, dueMs: world.clock.nowMs() });
}

/**
 * The upload that the job reads, with the number of attempts to read it. The job stores the numbers of attempts, so that it can give up a file that
 * ends every process that reads the file (D-314).
 */
interface Reading {
  readonly n: number;
  /** The number of runs of the upload, including the current run. */
  readonly begun: number;
  /** The number of processes that ended by themselves while they read the upload. */
  readonly died: number;
}

async function ingestFeed(world: World, key: string, payload: unknown, job: RunningJob): Promise<void> {
  const feed = nodeId(key);
  let reading = (payload ?? { n: 0, begun: 0, died: 0 }) as Reading;
  for (;;) {
    const claimed = await world.database.write((tx) => claimNext(tx, world, feed, job, reading));
    if (claimed !== undefined) {
      reading = claimed.reading;
      try {
        await ingest(world, claimed, job);
      } catch (error) {
        if (error instanceof ChildDied) {
          reading = { ...reading, died: reading.died + 1 };
          const next = reading;
          await world.database.write((tx) => job.remember(tx, next));
        } else if (!(error instanceof UploadLost)) throw error;
      }
    }
    await deleteUnused(world, feed);
    if (claimed === undefined && (await world.database.write((tx) => endUnlessWaiting(tx, job, feed)))) return;
  }
}

async function endUnlessWaiting(tx: Transaction, job: RunningJob, feed: NodeId): Promise<boolean> {
  await tx.lock(KIND, feed);
  if ((await findWaitingUpload(tx, feed)) !== undefined) return false;
  await job.settle(tx);
  return true;
}

interface ClaimedUpload extends RunningUpload {
  readonly reading: Reading;
  readonly upload: UploadRow;
  readonly shown: ShownItems;
}

async function claimNext(tx: Transaction, world: World, feed: NodeId, job: RunningJob, last: Reading): Promise<ClaimedUpload | undefined> {
  await tx.lock(KIND, feed);
  const shown = await findFeed(tx, feed);
  if (shown === undefined) return undefined;
  const now = unixSeconds(world.clock);
  await deleteOldUploads(tx, feed, UPLOADS_KEPT_MAX, now - RECEIVING_SECONDS_MAX);
  const upload = await findWaitingUpload(tx, feed);
  if (upload === undefined) return undefined;
  const generation = await beginGeneration(tx, feed);
  const { n } = upload;
  await claimUpload(tx, feed, n, generation, now);
  const reading = last.n === n ? { ...last, begun: last.begun + 1 } : { n, begun: 1, died: 0 };
  await job.remember(tx, reading);
  return { feed, n, generation, upload, shown, reading };
}

async function ingest(world: World, claimed: ClaimedUpload, job: RunningJob): Promise<void> {
  const { feed, n, upload, shown, reading } = claimed;
  const ingestion = new Ingestion(world, claimed, shown, upload.is_update === 1);
  if (upload.is_complete === 0) {
    const problem = await job.whileWaiting(() => fetchFile(world, claimed, upload.url ?? ""));
    if (problem !== undefined) return ingestion.fail(problem);
  }
  // D-314: an upload fails if its file has repeatedly ended the process that reads the file, or the server.
  if (reading.died >= READERS_MAX) return ingestion.fail(`the file cannot be read: ${READERS_MAX} processes ended while they read it`);
  if (reading.begun > RUNS_MAX) return ingestion.fail(`the file cannot be read: the server ended ${RUNS_MAX} times while it was read`);
  return ingestion.run(readInChild(partsOf(world, feed, n), (upload.format ?? undefined) as FeedFormat | undefined));
}

async function* partsOf(world: World, feed: string, n: number): Bytes {
  for (let part = 0; ; part++) {
    const bytes = await findPart(world.database.reader, feed, n, part);
    if (bytes === undefined) return;
    yield bytes;
  }
}

/** Deletes unused generations and files in small writes, so that other writes do not wait. */
async function deleteUnused(world: World, feed: NodeId): Promise<void> {
  const { database } = world;
  for (;;) {
    const generation = await findSpareGeneration(database.reader, feed);
    if (generation === undefined) break;
    await database.write(async (tx) => {
      if ((await deleteItems(tx, generation, ROWS_PER_WRITE)) < ROWS_PER_WRITE) await deleteGeneration(tx, feed, generation);
    });
  }
  for (;;) {
    const spare = await findSparePart(database.reader, feed);
    if (spare === undefined) return;
    await database.write((tx) => deleteParts(tx, feed, spare.n, PARTS_PER_WRITE));
  }
}
