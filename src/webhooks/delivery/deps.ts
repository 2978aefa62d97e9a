/** What an attempt at a delivery needs. */

import type { Clock } from "#kernel/clock";
import type { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import type { Sealer } from "#storage/sealing";
import type { Callbacks } from "../callbacks/callbacks.ts";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import type { WebhookFacts } from "../ports.ts";

/** What goes wrong on purpose (D-150). */
export interface DeliveryFaults {
  /** Asked before every attempt, and nearly always true. */
  readonly isEmpty: boolean;
  /** What happens to a POST that is about to be sent, with the fields of what travels in it; `canReorder`: it is the first attempt. */
  meetWebhook(fields: readonly string[], entity: string, canReorder: boolean): "lose" | "repeat" | "reorder" | undefined;
}

export interface DeliveryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly realNowMs: () => number;
  readonly fields: FieldCatalogue;
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
  readonly client: GuardedClient;
  readonly sealer: Sealer;
  readonly faults: DeliveryFaults;
}
