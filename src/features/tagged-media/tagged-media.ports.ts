/** What comments, and the fields of media, ask of media. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";

interface MediaPort {
  find(reader: Reader, owner: NodeId, media: NodeId): Promise<{ readonly media_product_type: string } | undefined>;
  /** The ids of a medium's children, in their order, but for those that are private or gone. All are its owner's. */
  publicChildren(reader: Reader, owner: NodeId, children: readonly string[]): Promise<string[]>;
}

interface MediaWritesPort {
  /** One more comment in `comments_count`. */
  countComment(tx: Transaction, owner: NodeId, media: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    media: MediaPort;
    media_writes: MediaWritesPort;
  }
}
