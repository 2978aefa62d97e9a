/** The port `product_feed_writes`, for product-catalogs. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

export interface FeedWritesPort {
  /** Deletes the feeds of a catalog. Jobs delete their items and uploads afterwards, because there may be millions. */
  deleteFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_feed_writes: FeedWritesPort;
  }
}
