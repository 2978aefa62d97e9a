/** The ports of feeds: `product_feed_writes` is for product-catalogs. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { UploadRow } from "./ingestion/uploads.store.ts";

interface FeedWritesPort {
  /** Deletes the feeds of a catalog. Jobs delete their items and uploads afterwards, because there may be millions. */
  deleteFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void>;
}

/** For the feature's own contract, which reads nothing itself. */
interface FeedPort {
  /** Of each feed, in their order. */
  findLatestUploads(reader: Reader, feeds: readonly { readonly id: string }[]): Promise<readonly (UploadRow | undefined)[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_feed: FeedPort;
    product_feed_writes: FeedWritesPort;
  }
}
