/** What comments ask of media. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";

export interface MediaReader {
  find(reader: Reader, owner: NodeId, media: NodeId): Promise<{ readonly media_product_type: string } | undefined>;
  /** One more comment in `comments_count`. */
  countComment(tx: Transaction, owner: NodeId, media: NodeId): Promise<void>;
}

declare module "#kernel/readers" {
  interface Readers {
    media: MediaReader;
  }
}
