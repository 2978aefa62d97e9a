/**
 * The webhook engine of a world (D-60 to D-64): handlers emit events in their transaction, the loop delivers them, people look
 * at what was sent and send it again.
 */
import type { TSchema } from "typebox";
import type { Jobs } from "#jobs/jobs";
import type { WorkLoop } from "#jobs/work-loop";
import type { Clock } from "#kernel/clock";
import type { IdMinter } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { GuardedClient } from "#outbound/client";
import type { Database, Transaction } from "#storage/database";
import type { Sealer } from "#storage/sealing";
import { findCallbackId, markWorking } from "./callbacks/callbacks.store.ts";
import { Callbacks } from "./callbacks/callbacks.ts";
import { alertJob, pauseJob, rerouteJob } from "./callbacks/health-jobs.ts";
import type { FieldCatalogue } from "./catalogue/catalogue.ts";
import type { WebhookField } from "./catalogue/field.ts";
import { Deliveries } from "./delivery/dispatcher.ts";
import { type Outbox, storeEvent, type WebhookEvent } from "./events/emit.ts";
import { rerouteApp } from "./events/reroute.ts";
import { DeliveryMetrics } from "./history/metrics.ts";
import { type Replayed, replayDeliveries, replayDelivery, type Span } from "./history/replay.ts";
import type { WebhookObserver } from "./observer.ts";
import { WebhookFacts } from "./ports.ts";

export interface WebhookParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly realNowMs: () => number;
  readonly ids: IdMinter;
  /** What the features define. */
  readonly fields: FieldCatalogue;
  readonly ports: PortRegistry;
  readonly sealer: Sealer;
  readonly client: GuardedClient;
  readonly loop: WorkLoop;
  // biome-ignore lint/suspicious/noExplicitAny: whatever world the jobs work on, here they are only scheduled.
  readonly jobs: Jobs<any>;
  readonly observer: WebhookObserver;
  /** Deliveries a second and callback; 0: as many as it takes. */
  readonly perSecondMax: number;
}

export class Webhooks {
  readonly parts: WebhookParts;
  readonly fields: FieldCatalogue;
  readonly deliveries: Deliveries;
  /** What this process has sent since its start. */
  readonly metrics = new DeliveryMetrics();
  readonly #outbox: Outbox;

  constructor(parts: WebhookParts) {
    this.parts = parts;
    this.fields = parts.fields;
    const facts = new WebhookFacts(parts.database, parts.ports);
    const callbacks = new Callbacks(parts.database, parts.ids);
    const { observer } = parts;
    // One by one: an observer may be an object of a class.
    const counting: WebhookObserver = {
      payloadBroken: (broken) => {
        this.metrics.recordBroken(broken);
        observer.payloadBroken(broken);
      },
      attempted: (seen) => {
        this.metrics.record(seen);
        observer.attempted(seen);
      },
      attemptBroke: (delivery, error) => observer.attemptBroke(delivery, error),
      callbackFails: (callback) => observer.callbackFails(callback),
      callbackPaused: (callback) => observer.callbackPaused(callback),
    };
    const deliveries = new Deliveries({ ...parts, observer: counting, facts, callbacks });
    this.deliveries = deliveries;
    const { clock, ids, fields } = parts;
    this.#outbox = { clock, ids, fields, facts, callbacks, observer: counting, fenceForNew: (lane) => deliveries.fenceForNew(lane) };
  }

  /** In the transaction of the event's cause, which no payload undoes (D-136). */
  async emit<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<void> {
    await this.make(tx, field, event);
  }

  /** The same; answers the deliveries that it made, one for each app that gets the event. */
  async make<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<readonly string[]> {
    const stored = await storeEvent(this.#outbox, tx, field, event);
    if (stored.deliveries.length > 0) tx.afterCommit(() => this.deliveries.arrived(stored));
    return stored.deliveries;
  }

  /** The app's URL was verified anew: if it was paused, what waits for it goes out. */
  async resumeUrl(tx: Transaction, app: string, url: string): Promise<void> {
    const id = await findCallbackId(tx, app, url);
    if (id !== undefined) await this.resumeCallback(tx, id);
  }

  readonly resumeCallback = async (tx: Transaction, id: string): Promise<void> => {
    await markWorking(tx, id);
    await this.parts.jobs.cancel(tx, alertJob, id);
    await this.parts.jobs.cancel(tx, pauseJob, id);
    tx.afterCommit(() => this.deliveries.lookAgain());
  };

  /** The app's callback or one of its overrides changed: what waits finds its new way, also from a callback that is paused. */
  async routesChanged(tx: Transaction, app: string): Promise<void> {
    await this.parts.jobs.schedule(tx, { kind: rerouteJob, key: app, dueMs: this.parts.clock.nowMs() });
  }

  /** What `routesChanged` has asked for. */
  async reroute(app: string): Promise<void> {
    await rerouteApp(this.#outbox, this.parts.database, app);
    this.deliveries.lookAgain();
  }

  /** Sends a delivery again as it was, with the same `webhook-id` and body; one that waits is due at once. False: there is none. */
  replay(id: string): Promise<boolean> {
    return replayDelivery(this, id);
  }

  /** The same for all that were made in a span of world time. */
  replaySpan(span: Span): Promise<Replayed> {
    return replayDeliveries(this, span);
  }
}
