/**
 * The webhook engine of a world (D-60 to D-64): handlers emit events in their transaction, the loop delivers the events, and people read
 * deliveries and replay them.
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
import { type EventFacts, WebhookFacts } from "./ports.ts";

/**
 * The greatest number of events without a subscriber that are recorded for a transaction. The explanation why no webhook was sent needs only a few
 * such events as examples.
 */
const UNSENT_MAX = 5;

/** The deliveries that a transaction has made, and the events of the transaction that no app gets. */
export interface Followed {
  readonly deliveries: readonly string[];
  readonly unsent: readonly Pick<EventFacts, "object" | "field" | "entity">[];
}

export class Webhooks {
  readonly deps: WebhookDeps;
  readonly fields: FieldCatalogue;
  readonly dispatcher: DeliveryDispatcher;
  /** The counts of this process's attempts since its start. */
  readonly metrics = new DeliveryMetrics();
  readonly #outbox: Outbox;
  readonly #rerouting: RerouteDeps & { readonly observer: WebhookObserver };
  readonly #replaying: ReplayDeps;
  readonly #signing: SigningDeps;
  /** The webhooks of each transaction that has made any. */
  readonly #followed = new WeakMap<Transaction, { deliveries: string[]; unsent: Pick<EventFacts, "object" | "field" | "entity">[] }>();

  constructor(deps: WebhookDeps) {
    this.deps = deps;
    this.fields = deps.fields;
    const facts = new WebhookFacts(deps.database, deps.ports);
    const callbacks = new Callbacks(deps.database, deps.ids);
    const { observer } = deps;
    // The methods of the observer are wrapped one by one, because the methods of a class instance cannot be copied with a spread.
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
      callbackBeganToFail: (callback) => observer.callbackBeganToFail(callback),
      callbackFails: (callback) => observer.callbackFails(callback),
      callbackPaused: (callback) => observer.callbackPaused(callback),
    };
    const dispatcher = new DeliveryDispatcher({ ...deps, observer: counting, facts, callbacks });
    this.dispatcher = dispatcher;
    const { clock, ids, fields, tracing } = deps;
    this.#outbox = { clock, ids, fields, tracing, facts, callbacks, observer: counting, fenceForNew: (queue) => dispatcher.fenceForNew(queue) };
    this.#rerouting = { ...this.#outbox, database: deps.database, jobs: deps.jobs, observer: counting };
    this.#signing = { ...deps, facts };
    this.#replaying = { ...deps, lookAgain: () => dispatcher.lookAgain() };
  }

  /**
   * Lists the apps that get an event of this transaction; usually the list is empty. A caller can call this method before it locks rows and pass the
   * result to `emit`, so that on PostgreSQL the locks are held for one round trip less.
   */
  subscribersOf(tx: Transaction, { object, field }: WebhookField, entity: NodeId): Promise<readonly NodeId[]> {
    const { facts, clock } = this.#outbox;
    return facts.subscribersOf(tx, { object, field, entity, phone: undefined }, clock.nowMs());
  }

  /** Stores an event in the transaction that caused it. The transaction can commit even if the payload breaks its contract (D-136). */
  async emit<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<void> {
    await this.make(tx, field, event);
  }

  /** Does the same as `emit`, and returns the ids of the new deliveries, one for each app that gets the event. */
  async make<S extends TSchema>(tx: Transaction, field: WebhookField<S>, event: WebhookEvent<S>): Promise<readonly string[]> {
    const stored = await storeEvent(this.#outbox, tx, field, event);
    let followed = this.#followed.get(tx);
    if (followed === undefined) {
      followed = { deliveries: [], unsent: [] };
      this.#followed.set(tx, followed);
    }
    if (stored.deliveries.length > 0) {
      followed.deliveries.push(...stored.deliveries);
      tx.afterCommit(() => this.dispatcher.arrived(stored));
    } else if (followed.unsent.length < UNSENT_MAX) {
      followed.unsent.push({ object: field.object, field: field.field, entity: event.entity });
    }
    return stored.deliveries;
  }

  /** Returns the webhooks that the transaction has made. Undefined if it has made none. */
  followed(tx: Transaction): Followed | undefined {
    return this.#followed.get(tx);
  }

  /**
   * Resumes a callback after an app's URL was set or verified anew. Earlier failures of the callback no longer count, and its waiting deliveries are
   * sent.
   */
  async resumeUrl(tx: Transaction, app: string, url: string): Promise<void> {
    const id = await findCallbackId(tx, app, url);
    if (id !== undefined) await this.resumeCallback(tx, id);
  }

  async resumeCallback(tx: Transaction, id: string): Promise<void> {
    await resumeCallback(tx, this.deps.jobs, id);
    tx.afterCommit(() => this.dispatcher.lookAgain());
  }

  /** D-273: pauses a callback because a person asked for it. */
  async holdCallback(tx: Transaction, id: string): Promise<void> {
    await holdCallback(tx, this.deps.jobs, id, this.deps.clock.nowMs());
  }

  /** Reroutes waiting deliveries, also those to a paused callback, after an app's callback or one of its overrides has changed. */
  async routesChanged(tx: Transaction, app: string): Promise<void> {
    await this.deps.jobs.schedule(tx, { kind: rerouteJob, key: app, dueMs: this.deps.clock.nowMs() });
  }

  /** Does the work of the job that `routesChanged` schedules. */
  async reroute(app: string): Promise<void> {
    await rerouteApp(this.#rerouting, app);
    this.dispatcher.lookAgain();
  }

  /** Ends waiting deliveries as `unsubscribed` if their app would not get them any more. Called when an app may have lost a subscription (D-138). */
  async subscriptionsChanged(tx: Transaction, app: string): Promise<void> {
    await this.deps.jobs.schedule(tx, { kind: unsubscribeJob, key: app, dueMs: this.deps.clock.nowMs() });
  }

  /** Does the work of the job that `subscriptionsChanged` schedules. */
  async endUnsubscribed(app: string): Promise<void> {
    await endUnsubscribed(this.#rerouting, app);
    // Deliveries that waited behind an ended delivery of the same entity can be sent now.
    this.dispatcher.lookAgain();
  }

  /** Erases the data about a person that deliveries and events contain. Returns the numbers of erased payloads and responses. */
  erase(ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return eraseFromDeliveries(this.deps.database, ids);
  }

  /** Returns the signature headers of each attempt at a delivery; undefined for an attempt that made no request. */
  signaturesOf(delivery: DeliveryRow, body: string): ReturnType<typeof signaturesOf> {
    return signaturesOf(this.#signing, delivery, body);
  }

  /**
   * Sends a delivery again with the same `webhook-id` and body; a delivery that waits for a retry is due at once. Resolves with false if
   * the delivery does not exist.
   */
  replay(id: string): Promise<boolean> {
    return replayDelivery(this.#replaying, id);
  }

  /** Replays all deliveries whose events happened in a span of world time. */
  replaySpan(span: Span): Promise<Replayed> {
    return replayDeliveries(this.#replaying, span);
  }
}
