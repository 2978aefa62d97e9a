/**
 * The webhook engine of Plaza without the rest of the server, with a data folder as in production. The ports of the engine are replaced by functions
 * that respond from memory.
 */
import { chatappAccounts } from "#features/chatapp-accounts";
import { Jobs } from "#jobs/jobs";
import { jobMigrations } from "#jobs/jobs.migrations";
import { WorkLoop } from "#jobs/work-loop";
import { type NodeId, nodeId } from "#kernel/ids";
import { PortRegistry } from "#kernel/ports";
import { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import { openDatabase } from "#storage/open";
import { deriveKey, Sealer } from "#storage/sealing";
import { TimeOrderedIds } from "#system";
import { webhookJobs } from "#webhooks/callbacks/health-jobs";
import { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import { silentObserver } from "#webhooks/observer";
import { Webhooks } from "#webhooks/webhooks";
import { webhookMigrations } from "#webhooks/webhooks.migrations";

export interface BenchEngine {
  readonly database: Database;
  readonly webhooks: Webhooks;
  /** The number of POSTs that the sink has accepted, and the number of events in these POSTs. */
  readonly taken: { posts: number; updates: number };
  /** Sends one event in a transaction of its own. Resolves when the event is durable. */
  emit(account: string, payload: object): Promise<void>;
}

/**
 * Opens the engine. `data` is a folder or an address of PostgreSQL; `appOf` returns the app that is subscribed to an account, and `urlOf` returns the
 * callback of the app.
 */
export async function openWebhookEngine(data: string, appOf: (account: string) => string, urlOf: (app: string) => string): Promise<BenchEngine> {
  const database = await openDatabase({ data, world: "bench", migrations: [jobMigrations, webhookMigrations] });
  const sealer = new Sealer(deriveKey(new Uint8Array(32).fill(7), "sealed secrets"));
  const sealed_secret = sealer.seal("s3cret");
  const ports = new PortRegistry();
  ports.register("chatapp_business_account_subscribers", { subscribersOf: async (_reader, { entity }) => [appOf(entity) as NodeId] });
  ports.register("webhook_override", { overridesOf: async () => ({ account: undefined, phone: undefined }) });
  ports.register("webhook_app", {
    find: async (_reader, app) => ({ callbacks: { chatapp_business_account: { url: urlOf(app), isVerified: true } }, sealed_secret }),
    missingFor: async () => undefined,
  });
  const realNowMs = () => Date.now();
  const clock = { nowMs: realNowMs };
  const fail = (error: unknown): void => console.error(error);
  const loop = new WorkLoop({ database, clock, realNowMs, onError: fail });
  const world = {} as { webhooks: Webhooks };
  const jobs = new Jobs({ database, loop, kinds: webhookJobs, world: () => world, onFailure: (_kind, _key, error) => fail(error) });
  const taken = { posts: 0, updates: 0 };
  const client = new GuardedClient({ rules: { isSandbox: true, allowed: [] } });
  const fields = new FieldCatalogue(chatappAccounts.webhookFields ?? []);
  const messages = fields.read("chatapp_business_account", "messages");
  const webhooks = new Webhooks({
    ...{ database, clock, realNowMs, ids: new TimeOrderedIds(() => 1), ports, sealer, client, loop, jobs, fields, perSecondMax: 0, hasLog: false },
    profile: () => "strict",
    faults: { isEmpty: true, matchWebhook: async () => undefined, delivered: () => {} },
    observer: {
      ...silentObserver,
      attemptBroke: (_delivery, error) => fail(error),
      attempted({ updates, outcome }) {
        if (outcome.kind !== "delivered") return;
        taken.posts++;
        taken.updates += updates;
      },
    },
  });
  world.webhooks = webhooks;
  loop.start();
  return {
    ...{ database, webhooks, taken },
    emit: (account, payload) => database.write((tx) => webhooks.emit(tx, messages, { entity: nodeId(account), payload })),
  };
}

/** The number of callers that work in parallel. Each caller waits until its event is durable. */
const CALLERS = 128;
/** The greatest number of events that wait for delivery. Above this number of events, the callers pause until half of the events are delivered. */
const BACKLOG_MAX = 2_000;
/** The number of accounts. The number is high enough that each POST contains one event, like the POSTs of the floor. */
const ACCOUNTS = 100_000;

export const message = (sent_ms: number): object => ({
  messaging_product: "chatapp",
  metadata: { phone_number_id: "4101" },
  messages: [
    { from: "491701234567", id: "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3", timestamp: "1795000000", text: { body: "hello world" }, type: "text" },
  ],
  sent_ms,
});

export function startCallers(engine: BenchEngine): void {
  let made = 0;
  let paused: Promise<void> | undefined;
  const pause = async (): Promise<void> => {
    while (made - engine.taken.updates > BACKLOG_MAX / 2) await Bun.sleep(5);
    paused = undefined;
  };
  const caller = async (): Promise<void> => {
    for (;;) {
      if (made - engine.taken.updates > BACKLOG_MAX) paused ??= pause();
      if (paused === undefined) await engine.emit(String(1_000_000 + (made++ % ACCOUNTS)), message(performance.timeOrigin + performance.now()));
      else await paused;
    }
  };
  for (let at = 0; at < CALLERS; at++) void caller();
}
