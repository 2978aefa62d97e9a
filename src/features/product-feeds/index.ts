/** The public API of the product-feeds feature: G2, and the ingestion of feed files. */

import { catalogAccess } from "#features/product-catalogs/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveList } from "#graph/contract/operation";
import { eitherWay } from "#storage/outcomes";
import { feedIngestion, scheduleIngestion } from "./ingestion/jobs.ts";
import { feedNode, listArticlesAndPublications, listFeeds, readFeed } from "./product-feeds.contract.ts";
import { feedControlRoutes } from "./product-feeds.control.ts";
import { handleListArticles, handleListFeeds } from "./product-feeds.handlers.ts";
import { productFeedMigrations } from "./product-feeds.migrations.ts";
import { productFeed } from "./product-feeds.policies.ts";
import type { FeedWritesPort } from "./product-feeds.ports.ts";
import { deleteFeed, type FeedRow, findFeed, listFeedsOfCatalog } from "./product-feeds.store.ts";
import { feedSection } from "./product-feeds.world.ts";

const deleteFeedsOfCatalog: FeedWritesPort["deleteFeedsOfCatalog"] = async (tx, catalog, world) => {
  for (const feed of await listFeedsOfCatalog(tx, catalog)) {
    await eitherWay(deleteFeed(tx, feed));
    await scheduleIngestion(tx, world, feed);
  }
};

export const productFeeds = defineFeature({
  name: "product-feeds",
  migrations: productFeedMigrations,
  policies: [productFeed],
  nodeTypes: [
    nodeType<FeedRow>({
      type: "product_feed",
      policy: catalogAccess,
      reading: { ...readFeed, set: feedNode, find: (_request, reader, node) => findFeed(reader, node.id) },
    }),
  ],
  operations: [serveList(listFeeds, handleListFeeds), serveList(listArticlesAndPublications, handleListArticles)],
  worldSections: [feedSection],
  jobs: [feedIngestion],
  controlRoutes: feedControlRoutes,
  ports: () => ({
    product_feed_writes: { deleteFeedsOfCatalog },
  }),
  onOwnerDeleted: deleteFeedsOfCatalog,
});
