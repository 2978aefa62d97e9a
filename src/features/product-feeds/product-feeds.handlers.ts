import type { Static } from "typebox";
import { lockCatalog } from "#features/product-catalogs/api";
import type { ListRequest, ListResult, OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/minted-node";
import type { World } from "#graph/worlds/world";
import { invalidParameter } from "#kernel/errors";
import type { Reader, Transaction } from "#storage/database";
import { type ItemRow, listItems } from "./items.store.ts";
import type { createFeed, listArticlesAndPublications, updateFeed } from "./product-feeds.contract.ts";
import { FEEDS_MAX } from "./product-feeds.limits.ts";
import { removeFeed } from "./product-feeds.removal.ts";
import { countFeedsOfCatalog, type FeedRow, findFeed, insertFeed, pageFeedsOfCatalog, saveSettings } from "./product-feeds.store.ts";
import { planFetches } from "./schedules/fetches.ts";
import { type GivenSchedule, storedSchedule } from "./schedules/parameters.ts";
import type { ScheduleKind } from "./schedules/schedule.ts";

export const handleListFeeds = (request: ListRequest, reader: Reader) => pageFeedsOfCatalog(reader, request.node.id, request.page);

export async function handleCreateFeed(request: OperationRequest<Static<typeof createFeed.params>>, tx: Transaction) {
  const { node, params, world } = request;
  const settings = { name: readName(params.name), ...storedSchedules(params, world, noSchedules) };
  await lockCatalog(tx, node.id);
  if ((await world.ports.get("product_catalog").findCatalog(tx, node.id)) === undefined) throw notFoundNode(request);
  if ((await countFeedsOfCatalog(tx, node.id)) >= FEEDS_MAX)
    throw invalidParameter("name", `is of one feed too many: a catalog has at most ${FEEDS_MAX}`);
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
  await saveSettings(tx, node.id, { name: params.name === undefined ? feed.name : readName(params.name), ...schedules });
  // A schedule that is not named goes on as it was planned.
  const named = (kind: ScheduleKind) => (params[kind] === undefined ? undefined : schedules[kind]);
  await planFetches(tx, world, node.id, { schedule: named("schedule"), update_schedule: named("update_schedule") });
  return { success: true };
}

export async function handleDeleteFeed(request: OperationRequest, tx: Transaction) {
  if (!(await removeFeed(tx, request.world, request.node.id))) throw notFoundNode(request);
  return { success: true };
}

function readName(given: string): string {
  const name = given.trim();
  if (name === "") throw invalidParameter("name", "must not be empty");
  return name;
}

type StoredSchedules = Pick<FeedRow, ScheduleKind>;
const noSchedules: StoredSchedules = { schedule: null, update_schedule: null };

/** As they are to be stored; one that is not given is that of `before`. */
function storedSchedules(params: { readonly [kind in ScheduleKind]?: unknown }, world: World, before: StoredSchedules): StoredSchedules {
  const stored = (kind: ScheduleKind): string | null => {
    const given = params[kind] as GivenSchedule | null | "" | undefined;
    return given === undefined ? before[kind] : storedSchedule(given, world, (place, problem) => invalidParameter(`${kind}.${place}`, problem));
  };
  return { schedule: stored("schedule"), update_schedule: stored("update_schedule") };
}

type ListArticles = ListRequest<Static<typeof listArticlesAndPublications.params>>;

export async function handleListArticles({ node, page, params }: ListArticles, reader: Reader): Promise<ListResult<ItemRow>> {
  const found = await listItems(reader, node.id, page);
  if (params.summary !== true) return found;
  // The count is stored with the feed, so that a summary of a million items costs one lookup.
  const total_count = (await findFeed(reader, node.id))?.item_count ?? 0;
  return { ...found, extras: { summary: { total_count } } };
}
