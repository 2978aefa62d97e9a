/** What the pipeline itself has a feature do. */
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

interface AppWritesPort {
  /** VER-5c: notes the app's first marketing request, Unix seconds, unless one was noted. */
  recordMarketingUse(tx: Transaction, app: NodeId, now: number): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    app_writes: AppWritesPort;
  }
}
