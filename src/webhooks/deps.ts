/** The dependencies of the parts of a world's webhook engine. */
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
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined;
  /** Deliveries a second to each callback; 0 means that there is no limit. */
  readonly perSecondMax: number;
  /** Whether delivered webhooks are logged in the order of commits, for programs that copy them (D-424). */
  readonly hasLog: boolean;
}

/** Faults that a person orders for deliveries on purpose (D-150). */
export interface DeliveryFaults {
  /** Whether no fault is ordered. This value is read before every attempt, and is nearly always true. */
  readonly isEmpty: boolean;
  /** Resolves with the effect of the fault that applies to a POST which is about to be sent, after the time that the POST waits. */
  matchWebhook(post: FaultyPost): Promise<DeliveryFault | undefined>;
  /** Called after a POST was delivered. */
  delivered(post: FaultyPost): void;
}

/** The facts about a POST of webhooks that are compared with faults. */
export interface FaultyPost {
  /** The id of the delivery. */
  readonly delivery: string;
  /** The id of the callback. */
  readonly callback: string;
  /** The fields of its events. */
  readonly fields: readonly string[];
  readonly entity: string;
  readonly isRetry: boolean;
}

/**
 * `lose`: the POST is not sent. `repeat`: it is sent twice. `reorder`: it counts as a failed attempt. `follow`: it is retried at once, and
 * `matchWebhook` then waits for a later POST. `batch`: it is claimed again, with the events that arrived behind it.
 */
export type DeliveryFault = "lose" | "repeat" | "reorder" | "follow" | "batch";

/** The dependencies of a delivery, with the cached facts of apps and callbacks. */
export interface DeliveryDeps
  extends Pick<WebhookDeps, "database" | "clock" | "realNowMs" | "fields" | "client" | "sealer" | "faults" | "profile" | "tracing"> {
  readonly facts: WebhookFacts;
  readonly callbacks: Callbacks;
}
