/** The ports that the server itself asks for, whatever features it has. */
import type { NodeId } from "#kernel/ids";
import type { PortName } from "#kernel/ports";
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

/** Of auth, of the pipeline, of the webhook engine (`webhooks/ports.ts`), and of example events. */
export const portsOfServer: readonly PortName[] = [
  ...(["app", "page_role"] as const),
  "app_writes",
  ...(["webhook_app", "webhook_override", "page_subscribers", "social_subscribers", "chatapp_business_account_subscribers"] as const),
  "social_account",
];
