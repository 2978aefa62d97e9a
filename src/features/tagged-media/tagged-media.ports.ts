/** The port `media`, for comments and for the fields of media. */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { Row } from "#storage/sql";

interface MediaPort {
  find(reader: Reader, owner: NodeId, media: NodeId): Promise<{ readonly media_product_type: string } | undefined>;
  /** For each of the albums the children that are public and not deleted, in their order. The owner of an album owns its children. */
  publicChildren(reader: Reader, albums: readonly Row[]): Promise<(readonly Row[])[]>;
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
