/** The port `product_feed`, for product-catalogs. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

export interface FeedPort {
  /** Deletes the feeds of a catalog. Jobs delete their items and uploads afterwards, because there may be millions. */
  deleteFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_feed: FeedPort;
  }
}
