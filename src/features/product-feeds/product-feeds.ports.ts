/** What other features have done to feeds. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

export interface FeedWritesPort {
  /** They are gone with the catalog; what they held is cleared away afterwards. */
  deleteFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_feed_writes: FeedWritesPort;
  }
}
