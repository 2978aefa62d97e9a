/** The public API of the product-feeds feature, which lists the items of feeds (G2), serves feeds as nodes, and ingests feed files. */

import { catalogAccess } from "#features/product-catalogs/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveIntake, serveList, serveListOf, serveWrite } from "#graph/contract/operation";
import { feedFileBytesMax } from "./ingestion/files.ts";
import { feedIngestion } from "./ingestion/jobs.ts";
import type { UploadRow } from "./ingestion/upload.ts";
import { findLatestUploads, findUploadNode, listUploadsOfFeed } from "./ingestion/uploads.store.ts";
import {
  createFeed,
  createUpload,
  deleteFeedOperation,
  feedNode,
  listArticlesAndPublications,
  listFeeds,
  listUploadErrors,
  listUploads,
  productFeed,
  readFeed,
  readUpload,
  updateFeed,
  uploadNode,
} from "./product-feeds.contract.ts";
import { feedAlerts, feedControlRoutes } from "./product-feeds.control.ts";
import {
  handleCreateFeed,
  handleDeleteFeed,
  handleListArticles,
  handleListUploadErrors,
  handleUpdateFeed,
  removeFeedsOfCatalog,
  submitUpload,
} from "./product-feeds.handlers.ts";
import { productFeedMigrations } from "./product-feeds.migrations.ts";
import { type FeedRow, findFeed, pageFeedsOfCatalog } from "./product-feeds.store.ts";
import { feedWebhook } from "./product-feeds.webhooks.ts";
import { feedSection } from "./product-feeds.world.ts";
import { feedFetches } from "./schedules/fetches.ts";

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
    serveListOf(listFeeds, pageFeedsOfCatalog),
    serveWrite(createFeed, handleCreateFeed),
    serveWrite(updateFeed, handleUpdateFeed),
    serveWrite(deleteFeedOperation, handleDeleteFeed),
    serveListOf(listUploads, listUploadsOfFeed),
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
