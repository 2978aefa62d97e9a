/** The dependencies of a world's webhook engine. */
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { Clock } from "#kernel/clock";
import type { IdMinter } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Tracing } from "#kernel/tracing/tracing";
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
  /** The tracing of the process; undefined if traces are off. */
  readonly tracing?: Tracing | undefined;
  /** The limit of deliveries a second to each callback; 0 means that there is no limit. */
  readonly perSecondMax: number;
  /** Whether the engine logs delivered webhooks, in the order of commits, for programs that copy webhooks (D-424). */
  readonly hasLog: boolean;
}

/** The faults that a tester orders for deliveries (D-150). */
export interface DeliveryFaults {
  /** Whether no fault is ordered. Every attempt reads `isEmpty` first, which is nearly always true, so that attempts without faults are fast. */
  readonly isEmpty: boolean;
  /**
   * Finds the fault that applies to a POST before the POST is sent. The promise resolves with the effect of the fault, after the delay that the fault
   * has.
   */
  matchWebhook(post: FaultyPost): Promise<DeliveryFault | undefined>;
  /** Called after a POST was delivered. */
  delivered(post: FaultyPost): void;
}

/** The properties of a POST by which a fault can select the POST. */
export interface FaultyPost {
  /** The id of the delivery. */
  readonly delivery: string;
  /** The id of the callback. */
  readonly callback: string;
  /** The webhook fields of the events in the POST. */
  readonly fields: readonly string[];
  readonly entity: string;
  readonly isRetry: boolean;
}

/**
 * `lose`: the POST is not sent. `repeat`: the POST is sent twice. `reorder`: the POST is not sent and counts as a failed attempt. `follow`: the POST
 * is retried at once, and `matchWebhook` then waits for a later POST. `batch`: the delivery is claimed again, with the events that arrived after it.
 */
export type DeliveryFault = "lose" | "repeat" | "reorder" | "follow" | "batch";

/** The dependencies of a delivery, with the cached facts of apps and callbacks. */
export interface DeliveryDeps
  extends Pick<WebhookDeps, "database" | "clock" | "realNowMs" | "fields" | "client" | "sealer" | "faults" | "profile" | "tracing"> {
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
}
