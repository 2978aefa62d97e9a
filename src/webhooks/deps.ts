/** The dependencies of the parts of a world's webhook engine. */
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { Clock } from "#kernel/clock";
import type { IdMinter } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import type { Sealer } from "#storage/sealing";
import type { Callbacks } from "./callbacks/callbacks.ts";
import type { FieldCatalogue } from "./catalogue/catalogue.ts";
import type { WebhookObserver } from "./observer.ts";
import type { WebhookFacts } from "./ports.ts";

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
  /** Returns the world's profile, which can change. */
  readonly profile: () => "strict" | "clients";
  readonly faults: DeliveryFaults;
  /** Deliveries a second to each callback; 0 means that there is no limit. */
  readonly perSecondMax: number;
}

/** Faults that a person orders for deliveries on purpose (D-150). */
export interface DeliveryFaults {
  /** Whether no fault is ordered. This value is read before every attempt, and is nearly always true. */
  readonly isEmpty: boolean;
  /** The fault that applies to a POST with these fields, which is about to be sent. `canReorder` is true for a delivery's first attempt. */
  matchWebhook(fields: readonly string[], entity: string, canReorder: boolean): "lose" | "repeat" | "reorder" | undefined;
}

/** The dependencies of a delivery, with the cached facts of apps and callbacks. */
export interface DeliveryDeps extends Pick<WebhookDeps, "database" | "clock" | "realNowMs" | "fields" | "client" | "sealer" | "faults" | "profile"> {
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
}
