/** The port `media`, for comments and for the fields of media. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";

interface MediaPort {
  find(reader: Reader, owner: NodeId, media: NodeId): Promise<{ readonly media_product_type: string } | undefined>;
  /** The children that are public and not deleted, in their order. `owner` owns the album and all its children. */
  publicChildren(reader: Reader, owner: NodeId, children: readonly string[]): Promise<string[]>;
}

interface MediaWritesPort {
  /** Adds one to `comments_count`. */
  countComment(tx: Transaction, owner: NodeId, media: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    media: MediaPort;
    media_writes: MediaWritesPort;
  }
}
