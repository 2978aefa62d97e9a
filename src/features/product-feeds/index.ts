/** The public API of the product-feeds feature: G2, feeds as nodes, and the ingestion of feed files. */

import { catalogAccess } from "#features/product-catalogs/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveIntake, serveList, serveWrite } from "#graph/contract/operation";
import { feedIngestion } from "./ingestion/jobs.ts";
import { findLatestUploads, findUploadNode, type UploadRow } from "./ingestion/uploads.store.ts";
import { createFeed, deleteFeedOperation, feedNode, listArticlesAndPublications, listFeeds, readFeed, updateFeed } from "./product-feeds.contract.ts";
import { feedControlRoutes } from "./product-feeds.control.ts";
import { handleCreateFeed, handleDeleteFeed, handleListArticles, handleListFeeds, handleUpdateFeed } from "./product-feeds.handlers.ts";
import { productFeedMigrations } from "./product-feeds.migrations.ts";
import { productFeed } from "./product-feeds.policies.ts";
import "./product-feeds.ports.ts";
import { removeFeedsOfCatalog } from "./product-feeds.removal.ts";
import { feedFileBytesMax } from "./product-feeds.settings.ts";
import { type FeedRow, findFeed } from "./product-feeds.store.ts";
import { feedWebhook } from "./product-feeds.webhooks.ts";
import { feedSection } from "./product-feeds.world.ts";
import { feedFetches } from "./schedules/fetches.ts";
import { feedAlerts } from "./uploads/uploads.alerts.ts";
import { createUpload, listUploadErrors, listUploads, readUpload, uploadNode } from "./uploads/uploads.contract.ts";
import { handleListUploadErrors, handleListUploads, submitUpload } from "./uploads/uploads.handlers.ts";

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
    nodeType<UploadRow>({
      type: "product_feed_upload",
      policy: catalogAccess,
      reading: { ...readUpload, set: uploadNode, find: (_request, reader, node) => findUploadNode(reader, node.id) },
    }),
  ],
  operations: [
    serveList(listFeeds, handleListFeeds),
    serveWrite(createFeed, handleCreateFeed),
    serveWrite(updateFeed, handleUpdateFeed),
    serveWrite(deleteFeedOperation, handleDeleteFeed),
    serveList(listUploads, handleListUploads),
    serveIntake(createUpload, submitUpload),
    serveList(listUploadErrors, handleListUploadErrors),
    serveList(listArticlesAndPublications, handleListArticles),
  ],
  worldSections: [feedSection],
  settings: [feedFileBytesMax],
  webhookFields: [feedWebhook],
  jobs: [feedIngestion, feedFetches],
  controlRoutes: feedControlRoutes,
  alerts: feedAlerts,
  needs: ["product_catalog"],
  ports: () => ({
    product_feed: { findLatestUploads },
    product_feed_writes: { deleteFeedsOfCatalog: removeFeedsOfCatalog },
  }),
  onOwnerDeleted: removeFeedsOfCatalog,
});
