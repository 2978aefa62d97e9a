/** The ports that the server itself asks for, whatever features it has. */
import type { NodeId } from "#kernel/ids";
import type { PortName } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";
import type { World } from "../worlds/world.ts";

interface AppWritesPort {
  /** VER-5c: notes the app's first marketing request, Unix seconds, unless one was noted. */
  recordMarketingUse(tx: Transaction, app: NodeId, now: number): Promise<void>;
}

interface SealedValuesPort {
  /** In the background, the current key seals all values that another one has sealed (D-171). */
  schedule(tx: Transaction, world: World): Promise<void>;
  /** The values that another key has sealed. */
  countOthers(reader: Reader, world: World): Promise<number>;
}

declare module "#kernel/ports" {
  interface Ports {
    app_writes: AppWritesPort;
    sealed_values: SealedValuesPort;
  }
}

/** Of auth, of the pipeline, of the webhook engine (`webhooks/ports.ts`), and of example events. */
export const portsOfServer: readonly PortName[] = [
  ...(["app", "page_role"] as const),
  ...(["app_writes", "sealed_values"] as const),
  ...(["webhook_app", "webhook_override"] as const),
  ...(["page_subscribers", "social_subscribers", "chatapp_business_account_subscribers", "catalog_subscribers"] as const),
  "social_account",
];
