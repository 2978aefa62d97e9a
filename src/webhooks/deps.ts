/** What the webhook engine of a world is made from. */
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { Clock } from "#kernel/clock";
import type { IdMinter } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import type { Sealer } from "#storage/sealing";
import type { FieldCatalogue } from "./catalogue/catalogue.ts";
import type { DeliveryFaults } from "./delivery/deps.ts";
import type { WebhookObserver } from "./observer.ts";

export interface WebhookDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly realNowMs: () => number;
  readonly ids: IdMinter;
  /** The webhook fields that the features define. */
  readonly fields: FieldCatalogue;
  readonly ports: PortRegistry;
  readonly sealer: Sealer;
  readonly client: GuardedClient;
  readonly loop: WorkLoop;
  // biome-ignore lint/suspicious/noExplicitAny: jobs are only scheduled here, so the world that they run on does not matter.
  readonly jobs: Jobs<any>;
  readonly observer: WebhookObserver;
  readonly faults: DeliveryFaults;
  /** Deliveries a second to each callback; 0: no limit. */
  readonly perSecondMax: number;
}
