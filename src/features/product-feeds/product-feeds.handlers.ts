import type { Static } from "typebox";
import { lockCatalog } from "#features/product-catalogs/api";
import type { ListRequest, ListResult, OperationRequest } from "#graph/contract/operation";
import type { UploadedFile } from "#graph/pipeline/request";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Bytes } from "./formats/bytes.ts";
import { FeedFileProblem } from "./formats/rows.ts";
import { scheduleIngestion } from "./ingestion/jobs.ts";
import { errorsOf, type UploadErrorRow } from "./ingestion/upload.ts";
import { deleteUploadsOfFeed, findUploadNode, type UploadKey } from "./ingestion/uploads.store.ts";
import { receiveFile, receiveUrl } from "./ingestion/uploads.ts";
import { type ItemRow, listItems } from "./items.store.ts";
import type { createFeed, createUpload, listArticlesAndPublications, updateFeed } from "./product-feeds.contract.ts";
import { FEEDS_MAX, UPLOADS_WAITING_MAX } from "./product-feeds.limits.ts";
import { countFeedsOfCatalog, deleteFeed, type FeedRow, findFeed, insertFeed, listFeedsOfCatalog, saveSettings } from "./product-feeds.store.ts";
import { planFetches } from "./schedules/fetches.ts";
import { type GivenSchedule, refuseAddress, type ScheduleKind, storedSchedule } from "./schedules/schedule.ts";

export async function handleCreateFeed(request: OperationRequest<Static<typeof createFeed.params>>, tx: Transaction) {
  const { node, params, world } = request;
  const settings = { name: params.name, ...storedSchedules(params, world, noSchedules) };
  await lockCatalog(tx, node.id);
  if ((await world.ports.get("product_catalog").findCatalog(tx, node.id)) === undefined) throw notFoundNode(request);
  if ((await countFeedsOfCatalog(tx, node.id)) >= FEEDS_MAX) throw invalidParameter("name", `is refused: the catalog already has ${FEEDS_MAX} feeds`);
  const id = await insertMinted(world.ids, (minted) => insertFeed(tx, minted, node.id, settings));
  await planFetches(tx, world, id, settings);
  return { id };
}

export async function handleUpdateFeed(request: OperationRequest<Static<typeof updateFeed.params>>, tx: Transaction) {
  const { node, params, world } = request;
  await tx.lock("product_feed", node.id);
  const feed = await findFeed(tx, node.id);
  if (feed === undefined) throw notFoundNode(request);
  const schedules = storedSchedules(params, world, feed);
  await saveSettings(tx, node.id, { name: params.name ?? feed.name, ...schedules });
  // If the request does not contain a schedule of the feed, the time of the schedule's next fetch does not change.
  const named = (kind: ScheduleKind) => (params[kind] === undefined ? undefined : schedules[kind]);
  await planFetches(tx, world, node.id, { schedule: named("schedule"), update_schedule: named("update_schedule") });
  return { success: true };
}

export async function handleDeleteFeed(request: OperationRequest, tx: Transaction) {
  if (!(await removeFeed(tx, request.world, request.node.id))) throw notFoundNode(request);
  return { success: true };
}

type StoredSchedules = Pick<FeedRow, ScheduleKind>;
const noSchedules: StoredSchedules = { schedule: null, update_schedule: null };

/** Returns the schedules to store. A schedule that the request does not contain keeps its value from `before`. */
function storedSchedules(params: { readonly [kind in ScheduleKind]?: unknown }, world: World, before: StoredSchedules): StoredSchedules {
  const stored = (kind: ScheduleKind): string | null => {
    const given = params[kind] as GivenSchedule | null | "" | undefined;
    return given === undefined ? before[kind] : storedSchedule(given, world, (key, problem) => invalidParameter(`${kind}.${key}`, problem));
  };
  return { schedule: stored("schedule"), update_schedule: stored("update_schedule") };
}

type ListArticles = ListRequest<Static<typeof listArticlesAndPublications.params>>;

export async function handleListArticles({ node, page, params }: ListArticles, reader: Reader): Promise<ListResult<ItemRow>> {
  const found = await listItems(reader, node.id, page);
  if (params.summary !== true) return found;
  // The number of items is stored with the feed, so that a summary of a million items costs one lookup.
  const total_count = (await findFeed(reader, node.id))?.item_count ?? 0;
  return { ...found, extras: { summary: { total_count } } };
}

type CreateUpload = OperationRequest<Static<typeof createUpload.params>>;

/**
 * Accepts an upload. Each part of the file is stored in a transaction of its own, because one transaction for a large file would block other writes.
 */
export async function submitUpload(request: CreateUpload): Promise<{ id: string }> {
  const { file, url } = request.params;
  const key = file === undefined ? await fetchLater(request, url as string) : await take(request, file);
  if (key === undefined) throw notFoundNode(request);
  return { id: key.id };
}

const inputOf = ({ params }: CreateUpload) => ({ isUpdate: params.update_only === true, waitingMax: UPLOADS_WAITING_MAX });

async function take(request: CreateUpload, { filename, bytes }: UploadedFile): Promise<UploadKey | undefined> {
  try {
    return await receiveFile(request.world, request.node.id, inOnePiece(bytes), { ...inputOf(request), file_name: filename });
  } catch (error) {
    // Errors that do not concern the file, such as the error for too many waiting uploads, are thrown again.
    throw error instanceof FeedFileProblem ? invalidParameter("file", `is refused: ${error.message}`) : error;
  }
}

async function* inOnePiece(bytes: Uint8Array): Bytes {
  yield bytes;
}

function fetchLater(request: CreateUpload, url: string): Promise<UploadKey | undefined> {
  const { world, node } = request;
  refuseAddress(url, world, invalidParameter);
  return world.database.write((tx) => receiveUrl(tx, world, node.id, url, inputOf(request)));
}

export async function handleListUploadErrors({ node, page }: ListRequest, reader: Reader): Promise<ListResult<UploadErrorRow>> {
  const upload = await findUploadNode(reader, node.id);
  return pageOf(upload === undefined ? [] : errorsOf(upload), page);
}

/** Returns a page of a list that is in memory. The key of a row in the page's cursors is the row's index. */
function pageOf<R>(rows: readonly R[], { limit, after, before, isInclusive }: PageRequest): ListPage<R> {
  const indexOf = (key: readonly string[] | undefined): number | undefined => (key === undefined ? undefined : Number(key[0]));
  const own = isInclusive === true ? 0 : 1;
  const end = Math.min(rows.length, before === undefined ? rows.length : (indexOf(before) as number) + 1 - own);
  const start = before === undefined ? Math.min(rows.length, after === undefined ? 0 : (indexOf(after) as number) + own) : Math.max(0, end - limit);
  const found = rows.slice(start, before === undefined ? start + limit : end);
  const page = { rows: found, hasPrevious: start > 0, hasNext: start + found.length < rows.length };
  return found.length === 0 ? page : { ...page, firstKey: [String(start)], lastKey: [String(start + found.length - 1)] };
}

/**
 * Deletes a feed. Jobs delete the feed's items and files afterwards, because a feed may have millions of items. Returns false if the feed does not
 * exist.
 */
export async function removeFeed(tx: Transaction, world: World, feed: NodeId): Promise<boolean> {
  if (!(await deleteFeed(tx, feed))) return false;
  await planFetches(tx, world, feed, { schedule: null, update_schedule: null });
  await scheduleIngestion(tx, world, feed);
  await deleteUploadsOfFeed(tx, feed);
  return true;
}

export async function removeFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void> {
  for (const feed of await listFeedsOfCatalog(tx, catalog)) await removeFeed(tx, world, feed);
}
