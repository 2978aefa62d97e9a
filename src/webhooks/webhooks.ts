/**
 * The webhook engine of a world (D-60 to D-64): handlers emit events in their transaction, the loop delivers them, people look
 * at what was sent and send it again.
 */
import type { TSchema } from "typebox";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { findCallbackId } from "./callbacks/callbacks.store.ts";
import { Callbacks } from "./callbacks/callbacks.ts";
import { holdCallback, resumeCallback } from "./callbacks/health.ts";
import { rerouteJob, unsubscribeJob } from "./callbacks/health-jobs.ts";
import type { FieldCatalogue } from "./catalogue/catalogue.ts";
import type { WebhookField } from "./catalogue/field.ts";
import { DeliveryDispatcher } from "./delivery/dispatcher.ts";
import type { WebhookDeps } from "./deps.ts";
import { type Outbox, storeEvent, type WebhookEvent } from "./events/emit.ts";
import { endUnsubscribed, type RerouteDeps, rerouteApp } from "./events/reroute.ts";
import { eraseFromDeliveries } from "./history/erasure.ts";
import type { DeliveryRow } from "./history/list.store.ts";
import { DeliveryMetrics } from "./history/metrics.ts";
import { type ReplayDeps, type Replayed, replayDeliveries, replayDelivery, type Span } from "./history/replay.ts";
import { type SigningDeps, signaturesOf } from "./history/view.ts";
import type { WebhookObserver } from "./observer.ts";
import { WebhookFacts } from "./ports.ts";

export class Webhooks {
  readonly deps: WebhookDeps;
  readonly fields: FieldCatalogue;
  readonly dispatcher: DeliveryDispatcher;
  /** The attempts of this process since its start. */
  readonly metrics = new DeliveryMetrics();
  readonly #outbox: Outbox;
  readonly #rerouting: RerouteDeps & { readonly observer: WebhookObserver };
  readonly #replaying: ReplayDeps;
  readonly #signing: SigningDeps;
  /** The deliveries of transactions that `followed` was called for. */
  readonly #followed = new WeakMap<Transaction, string[]>();

  constructor(deps: WebhookDeps) {
    this.deps = deps;
    this.fields = deps.fields;
    const facts = new WebhookFacts(deps.database, deps.ports);
    const callbacks = new Callbacks(deps.database, deps.ids);
    const { observer } = deps;
    // One by one, since the observer may be an instance of a class.
    const counting: WebhookObserver = {
      workBegins: observer.workBegins,
      payloadBroken: (broken) => {
        this.metrics.recordBroken(broken);
        observer.payloadBroken(broken);
      },
      attempted: (seen) => {
        this.metrics.record(seen);
        observer.attempted(seen);
      },
      attemptBroke: (delivery, error) => observer.attemptBroke(delivery, error),
      deliveryOverdue: (overdue) => {
        this.metrics.recordOverdue();
        observer.deliveryOverdue(overdue);
      },
      deliveryUnsubscribed: (delivery) => {
        this.metrics.recordUnsubscribed(delivery);
        observer.deliveryUnsubscribed(delivery);
      },
      callbackFails: (callback) => observer.callbackFails(callback),
      callbackPaused: (callback) => observer.callbackPaused(callback),
    };
    const dispatcher = new DeliveryDispatcher({ ...deps, observer: counting, facts, callbacks });
    this.dispatcher = dispatcher;
    const { clock, ids, fields } = deps;
    this.#outbox = { clock, ids, fields, facts, callbacks, observer: counting, fenceForNew: (queue) => dispatcher.fenceForNew(queue) };
    this.#rerouting = { ...this.#outbox, database: deps.database, jobs: deps.jobs, observer: counting };
    this.#signing = { ...deps, facts };
    this.#replaying = { ...deps, lookAgain: () => dispatcher.lookAgain() };
  }

  /**
   * The apps that get an event of this transaction, nearly always none. If the caller asks before `emit` does, a transaction that holds a lock on
   * PostgreSQL has one round trip less.
   */
  subscribersOf(tx: Transaction, { object, field }: WebhookField, entity: NodeId): Promise<readonly NodeId[]> {
    const { facts, clock } = this.#outbox;
    return facts.subscribersOf(tx, { object, field, entity, phone: undefined }, clock.nowMs());
  }

  /** In the transaction of the event's cause, which no payload undoes (D-136). */
  async emit<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<void> {
    await this.make(tx, field, event);
  }

  /** The same; returns the ids of the deliveries that it made, one for each app that gets the event. */
  async make<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<readonly string[]> {
    const stored = await storeEvent(this.#outbox, tx, field, event);
    if (stored.deliveries.length > 0) {
      this.#followed.get(tx)?.push(...stored.deliveries);
      tx.afterCommit(() => this.dispatcher.arrived(stored));
    }
    return stored.deliveries;
  }

  /** The ids of the deliveries that the transaction will have made. */
  followed(tx: Transaction): readonly string[] {
    const deliveries: string[] = [];
    this.#followed.set(tx, deliveries);
    return deliveries;
  }

  /** The app's URL was set or verified anew: earlier failures no longer count, and waiting deliveries are sent. */
  async resumeUrl(tx: Transaction, app: string, url: string): Promise<void> {
    const id = await findCallbackId(tx, app, url);
    if (id !== undefined) await this.resumeCallback(tx, id);
  }

  async resumeCallback(tx: Transaction, id: string): Promise<void> {
    await resumeCallback(tx, this.deps.jobs, id);
    tx.afterCommit(() => this.dispatcher.lookAgain());
  }

  /** D-273: a person pauses it. */
  async holdCallback(tx: Transaction, id: string): Promise<void> {
    await holdCallback(tx, this.deps.jobs, id, this.deps.clock.nowMs());
  }

  /** The app's callback or one of its overrides changed: what waits takes its new route, also from a callback that is paused. */
  async routesChanged(tx: Transaction, app: string): Promise<void> {
    await this.deps.jobs.schedule(tx, { kind: rerouteJob, key: app, dueMs: this.deps.clock.nowMs() });
  }

  /** The job that `routesChanged` schedules. */
  async reroute(app: string): Promise<void> {
    await rerouteApp(this.#rerouting, app);
    this.dispatcher.lookAgain();
  }

  /** The app may have lost a subscription: waiting deliveries that it would not get any more end as `unsubscribed` (D-138). */
  async subscriptionsChanged(tx: Transaction, app: string): Promise<void> {
    await this.deps.jobs.schedule(tx, { kind: unsubscribeJob, key: app, dueMs: this.deps.clock.nowMs() });
  }

  /** The job that `subscriptionsChanged` schedules. */
  async endUnsubscribed(app: string): Promise<void> {
    await endUnsubscribed(this.#rerouting, app);
    // Deliveries that waited behind an ended one of their entity can be sent.
    this.dispatcher.lookAgain();
  }

  /** Empties what is kept about a person. Returns how many events and responses it has emptied. */
  erase(ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return eraseFromDeliveries(this.deps.database, ids);
  }

  /** The headers that signed each attempt; undefined: it sent nothing. */
  signaturesOf(delivery: DeliveryRow, body: string): ReturnType<typeof signaturesOf> {
    return signaturesOf(this.#signing, delivery, body);
  }

  /** Sends a delivery again as it was, with the same `webhook-id` and body; one that waits is due at once. False if there is none. */
  replay(id: string): Promise<boolean> {
    return replayDelivery(this.#replaying, id);
  }

  /** The same for all that were made in a span of world time. */
  replaySpan(span: Span): Promise<Replayed> {
    return replayDeliveries(this.#replaying, span);
  }
}
