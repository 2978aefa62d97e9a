/** The ports that the server itself needs, independent of its features. */
import type { NodeId } from "#kernel/ids";
import type { PortName } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";
import type { World } from "../worlds/world.ts";

interface AppWritesPort {
  /**
   * VER-5c: stores the time of the app's first marketing request in Unix seconds. If a time of a first marketing request is stored already, it stays.
   */
  recordMarketingUse(tx: Transaction, app: NodeId, now: number): Promise<void>;
}

interface SealedValuesPort {
  /** Schedules a job that re-encrypts all values that are not sealed with the current key (D-171). */
  schedule(tx: Transaction, world: World): Promise<void>;
  /** Returns the number of stored values that are sealed with another key than the current one. */
  countOthers(reader: Reader, world: World): Promise<number>;
  /**
   * Whether one of the server's keys can open at least one of the sealed values. The check of the keys also returns true if there are no sealed
   * values (D-344).
   */
  opensAny(reader: Reader, world: World): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    app_writes: AppWritesPort;
    sealed_values: SealedValuesPort;
  }
}

/** The ports that auth, the pipeline, webhooks (`webhooks/ports.ts`) and example events need. */
export const portsOfServer: readonly PortName[] = [
  ...(["app", "page_role"] as const),
  ...(["app_writes", "sealed_values"] as const),
  ...(["webhook_app", "webhook_override"] as const),
  ...(["page_subscribers", "social_subscribers", "chatapp_business_account_subscribers", "catalog_subscribers"] as const),
  "social_account",
];
