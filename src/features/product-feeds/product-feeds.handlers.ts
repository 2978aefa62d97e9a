import type { Static } from "typebox";
import type { ListRequest, ListResult } from "#graph/contract/operation";
import type { Reader } from "#storage/database";
import { type ItemRow, listItems } from "./items.store.ts";
import type { listArticlesAndPublications } from "./product-feeds.contract.ts";
import { findFeed, pageFeedsOfCatalog } from "./product-feeds.store.ts";

export const handleListFeeds = (request: ListRequest, reader: Reader) => pageFeedsOfCatalog(reader, request.node.id, request.page);

type ListArticles = ListRequest<Static<typeof listArticlesAndPublications.params>>;

export async function handleListArticles({ node, page, params }: ListArticles, reader: Reader): Promise<ListResult<ItemRow>> {
  const found = await listItems(reader, node.id, page);
  if (params.summary !== true) return found;
  // The count is stored with the feed, so that a summary of a million items costs one lookup.
  const total_count = (await findFeed(reader, node.id))?.item_count ?? 0;
  return { ...found, extras: { summary: { total_count } } };
}
