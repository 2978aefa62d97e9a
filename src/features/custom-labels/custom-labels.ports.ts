/** The port `label`, for pages. */
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

interface LabelWritesPort {
  /** Detaches all labels from a person who is removed from the page. */
  detachAll(tx: Transaction, page: NodeId, psid: string): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    label_writes: LabelWritesPort;
  }
}
