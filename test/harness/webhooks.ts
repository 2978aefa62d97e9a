/** The webhook engine on a bare database, with features whose data a test sets. */
import { expect } from "bun:test";
import { chatappAccounts } from "#features/chatapp-accounts";
import { Jobs } from "#jobs/jobs";
import { jobMigrations } from "#jobs/jobs.migrations";
import { WorkLoop } from "#jobs/work-loop";
import { type NodeId, nodeId } from "#kernel/ids";
import { PortRegistry } from "#kernel/ports";
import { GuardedClient } from "#outbound/client";
import type { Database, Transaction } from "#storage/database";
import { deriveKey, Sealer } from "#storage/sealing";
import { sql } from "#storage/sql";
import { TimeOrderedIds } from "#system";
import { type CallbackRow, saveHealth } from "#webhooks/callbacks/callbacks.store";
import { PROBE_EVERY_MS } from "#webhooks/callbacks/health";
import { webhookJobs } from "#webhooks/callbacks/health-jobs";
import { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import type { WebhookField } from "#webhooks/catalogue/field";
import type { OldestWaiting } from "#webhooks/delivery/overdue";
import type { DeliveryFaults } from "#webhooks/deps";
import type { AttemptSeen, BrokenPayload } from "#webhooks/observer";
import type { EventFacts, WebhookApp } from "#webhooks/ports";
import { Webhooks } from "#webhooks/webhooks";
import { webhookMigrations } from "#webhooks/webhooks.migrations";
import { afterThisTest } from "./cleanup.ts";
import { movedClock } from "./work-database.ts";

export const fixtureMigrations = [jobMigrations, webhookMigrations];

/**
 * The values that the functions of features would return to the engine. A test changes these values directly, and then calls `routesChanged` as a
 * feature would.
 */
export interface Features {
  subscribers: (event: EventFacts) => readonly string[];
  readonly apps: Map<string, { url?: string; isVerified?: boolean; secret: string; previous?: { secret: string; until_ms: number } }>;
  /** The callbacks that replace the app's own, by `app account` or `app phone`. */
  readonly overrides: Map<string, string>;
}

export interface WebhookFixture {
  readonly database: Database;
  readonly clock: ReturnType<typeof movedClock>;
  readonly real: ReturnType<typeof movedClock>;
  readonly loop: WorkLoop;
  readonly webhooks: Webhooks;
  readonly features: Features;
  readonly attempts: AttemptSeen[];
  readonly alerts: CallbackRow[];
  readonly pauses: CallbackRow[];
  readonly errors: unknown[];
  /**
   * The payloads that broke their contract. A test that causes payloads that break their contract removes them from this list; payloads that are left
   * in it fail the test.
   */
  readonly brokenPayloads: BrokenPayload[];
  /**
   * The reports of overdue deliveries. A test that causes reports of overdue deliveries removes them from this list; reports that are left in it fail
   * the test.
   */
  readonly overdue: OldestWaiting[];
  /** Sends one event of a business account, in a transaction of its own. */
  emit(account: string, payload: object, more?: { field?: string; phone?: string }): Promise<void>;
  /** Moves the world's clock as the control API does. */
  advance(seconds: number): Promise<void>;
}

/** Pauses a callback, and stores what the server would have stored after five days of failures. */
export const pauseCallback = (tx: Transaction, id: string, nowMs: number): Promise<void> =>
  saveHealth(tx, id, { failing_since_ms: nowMs, last_failure_ms: nowMs, alerted_ms: nowMs, paused_ms: nowMs, probe_due_ms: nowMs + PROBE_EVERY_MS });

const chatappFields = chatappAccounts.webhookFields ?? [];
const fieldsOfAccounts = new FieldCatalogue(chatappFields);
/** The definition of a webhook field of business accounts. */
export const chatappField = (field: string) => fieldsOfAccounts.read("chatapp_business_account", field);

export const newFeatures = (url?: string): Features => ({
  subscribers: () => ["1001"],
  apps: new Map([["1001", { ...(url === undefined ? {} : { url }), secret: "s3cret" }]]),
  overrides: new Map(),
});

export interface WebhookFixtureOptions {
  readonly features: Features;
  readonly clock?: ReturnType<typeof movedClock>;
  readonly real?: ReturnType<typeof movedClock>;
  readonly perSecondMax?: number;
  readonly hasLog?: boolean;
  readonly profile?: "strict" | "clients";
  /** Webhook fields in addition to those of business accounts. */
  readonly fields?: readonly WebhookField[];
  /** The faults that the test orders for deliveries. Default: no faults. */
  readonly faults?: DeliveryFaults;
  /** The client that sends webhooks. By default, this is a client that may send requests to loopback. */
  readonly client?: GuardedClient;
  /** The engine is not stopped after the test, because it stands for a process that was killed. */
  readonly isKilled?: boolean;
}

let processes = 0;

export function openWebhooks(database: Database, options: WebhookFixtureOptions): WebhookFixture {
  const { features, clock = movedClock(), real = movedClock() } = options;
  const sealer = new Sealer(deriveKey(new Uint8Array(32).fill(7), "sealed secrets"));
  const ports = readersOf(features, sealer);
  const [attempts, alerts, pauses, errors]: [AttemptSeen[], CallbackRow[], CallbackRow[], unknown[]] = [[], [], [], []];
  const brokenPayloads: BrokenPayload[] = [];
  const overdue: OldestWaiting[] = [];
  const loop = new WorkLoop({ database, clock, realNowMs: () => real.ms, onError: (error) => errors.push(error) });
  const process = ++processes % 1_000;
  const world: { webhooks: Webhooks } = {} as { webhooks: Webhooks };
  const jobs = new Jobs({ database, loop, kinds: webhookJobs, world: () => world, onFailure: (_kind, _key, error) => errors.push(error) });
  const client = options.client ?? new GuardedClient({ rules: { isSandbox: true, allowed: [] } });
  const webhooks = new Webhooks({
    ...{ database, clock, realNowMs: () => real.ms, ids: new TimeOrderedIds(() => process), ports, sealer, client, loop, jobs },
    fields: new FieldCatalogue([...chatappFields, ...(options.fields ?? [])]),
    observer: {
      workBegins: () => {},
      payloadBroken: (broken) => brokenPayloads.push(broken),
      attempted: (seen) => attempts.push(seen),
      attemptBroke: (_delivery, error) => errors.push(error),
      deliveryOverdue: (one) => overdue.push(one),
      deliveryUnsubscribed: () => {},
      callbackBeganToFail: () => {},
      callbackFails: (callback) => alerts.push(callback),
      callbackPaused: (callback) => pauses.push(callback),
    },
    perSecondMax: options.perSecondMax ?? 0,
    hasLog: options.hasLog ?? false,
    profile: () => options.profile ?? "strict",
    faults: options.faults ?? { isEmpty: true, matchWebhook: async () => undefined, delivered: () => {} },
  });
  world.webhooks = webhooks;
  afterThisTest(async () => {
    if (options.isKilled !== true) await loop.stop();
    client.close();
    expect(brokenPayloads).toEqual([]);
    expect(overdue).toEqual([]);
  });
  return {
    ...{ database, clock, real, loop, webhooks, features, attempts, alerts, pauses, errors, brokenPayloads, overdue },
    emit: (account, payload, { field = "messages", phone } = {}) =>
      database.write((tx) =>
        webhooks.emit(tx, chatappField(field), { entity: nodeId(account), phone: phone === undefined ? undefined : nodeId(phone), payload }),
      ),
    advance: (seconds) =>
      loop.runUntil(clock.ms + seconds * 1_000, async (ms) => {
        clock.ms = ms;
      }),
  };
}

function readersOf(features: Features, sealer: Sealer): PortRegistry {
  const ports = new PortRegistry();
  const subscribers = { subscribersOf: async (_reader: unknown, event: EventFacts) => features.subscribers(event) as readonly NodeId[] };
  ports.register("chatapp_business_account_subscribers", subscribers);
  ports.register("social_subscribers", subscribers);
  ports.register("page_subscribers", subscribers);
  ports.register("catalog_subscribers", subscribers);
  ports.register("webhook_override", {
    overridesOf: async (_reader, app, account, phone) => ({
      account: features.overrides.get(`${app} ${account}`),
      phone: phone === undefined ? undefined : features.overrides.get(`${app} ${phone}`),
    }),
  });
  ports.register("webhook_app", {
    missingFor: async () => undefined,
    async find(_reader, app): Promise<WebhookApp | undefined> {
      const found = features.apps.get(app);
      if (found === undefined) return undefined;
      const callback = found.url === undefined ? undefined : { url: found.url, isVerified: found.isVerified ?? true };
      return {
        callbacks: callback === undefined ? {} : { social: callback, chatapp_business_account: callback, page: callback, catalog: callback },
        sealed_secret: sealer.seal(found.secret),
        ...(found.previous === undefined
          ? {}
          : { previous_secret: { sealed: sealer.seal(found.previous.secret), until_ms: found.previous.until_ms } }),
      };
    },
  });
  return ports;
}

/**
 * A database row of a delivery. Keys that a test leaves out have the values of a delivery that waits for nothing, and whose event has the same id.
 */
export interface DeliveryRow {
  readonly id: number;
  readonly event?: number;
  readonly app?: number;
  readonly callback?: number;
  readonly status?: number;
  /** Whether the delivery waits for its first attempt. */
  readonly isFirst?: boolean;
  readonly queue_entity?: number;
  readonly retry_due_ms?: number;
  readonly head?: number;
  readonly members?: number;
  readonly fence?: number;
  readonly attempts?: string;
  readonly ended_ms?: number;
}

/** Inserts rows that the webhook engine would have stored over time. */
export const insertDeliveries = (database: Database, rows: readonly DeliveryRow[]): Promise<void> =>
  database.write(async (tx) => {
    for (const { id, event = id, app = 1001, callback = 71, isFirst = false, ...row } of rows) {
      await tx.runOne(sql`
        INSERT INTO webhook_events (id, object, field, entity, time_ms, deliveries, payload)
        VALUES (${event}, 'page', ${`field ${event}`}, ${row.queue_entity ?? 2001}, ${event * 1_000}, 1, '{}')
        ON CONFLICT (id) DO UPDATE SET deliveries = webhook_events.deliveries + 1`);
      await tx.runOne(sql`
        INSERT INTO webhook_deliveries (id, event, app, callback, status, first_callback, queue_entity, retry_due_ms, head, members, fence, tries, attempts, ended_ms)
        VALUES (${id}, ${event}, ${app}, ${callback}, ${row.status ?? 0}, ${isFirst ? callback : null}, ${row.queue_entity ?? null}, ${row.retry_due_ms ?? null},
          ${row.head ?? null}, ${row.members ?? 0}, ${row.fence ?? 0}, 0, ${row.attempts ?? "[]"}, ${row.ended_ms ?? null})`);
    }
  });
