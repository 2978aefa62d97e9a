/** What an attempt at a delivery needs. */

import type { Clock } from "#kernel/clock";
import type { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import type { Sealer } from "#storage/sealing";
import type { Callbacks } from "../callbacks/callbacks.ts";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import type { WebhookFacts } from "../ports.ts";

export interface DeliveryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly realNowMs: () => number;
  readonly fields: FieldCatalogue;
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
  readonly client: GuardedClient;
  readonly sealer: Sealer;
}
