/** What other features have done to labels. */
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

interface LabelWritesPort {
  /** Takes every label off a person who leaves the page. */
  detachAll(tx: Transaction, page: NodeId, psid: string): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    label_writes: LabelWritesPort;
  }
}
