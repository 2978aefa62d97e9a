/** Opens a world on a database: migrations, clock, ids, caches. */
import { authMigrations } from "#auth/auth.migrations";
import { jobMigrations } from "#jobs/jobs.migrations";
import { unixSeconds } from "#kernel/clock";
import { type IdMinter, isNodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Tracing } from "#kernel/tracing/tracing";
import type { GuardedClient } from "#outbound/client";
import type { Database, FeatureMigrations, Transaction } from "#storage/database";
import type { KeyRing } from "#storage/sealing";
import { TracedDatabase } from "#storage/traced-database";
import { silentObserver } from "#webhooks/observer";
import { webhookMigrations } from "#webhooks/webhooks.migrations";
import type { WorldSection } from "../contract/feature.ts";
import type { Registry } from "../contract/registry.ts";
import type { VersionCalendar } from "../versions/calendar.ts";
import { WorldClock } from "./clock.ts";
import { erasureFact, erasureJobs } from "./erasure/erasure.ts";
import { Faults, type FaultTools } from "./fault-injection.ts";
import { graphMigrations } from "./graph.migrations.ts";
import type { LogMemory } from "./log-memory.ts";
import { answerOtherProcesses } from "./passed-requests.ts";
import { type RateLimitConfig, RateLimits } from "./rate-limits.ts";
import { RequestLog } from "./request-log.ts";
import { findSetting, saveSetting, settingFact } from "./settings.store.ts";
import { UnservedNames } from "./unserved.ts";
import { type Profile, type WorkObserver, World, type WorldSettings } from "./world.ts";

interface WorldOptions {
  readonly name: string;
  readonly database: Database;
  /** The memory of a world that was open before. Without this key the world gets new memory. */
  readonly memory?: WorldMemory;
  readonly registry: Registry;
  readonly ports: PortRegistry;
  readonly profile: Profile;
  readonly seed: number | undefined;
  readonly calendar: VersionCalendar;
  readonly settings: WorldSettings;
  readonly rateLimits: RateLimitConfig;
  readonly faults: FaultTools;
  readonly outbound: GuardedClient;
  /** Gets reports about background work. Without an observer background work is not reported. */
  readonly observer?: WorkObserver;
  readonly deliveriesPerSecondMax: number;
  readonly hasWebhookLog: boolean;
  readonly randomSecret: (byteCount: number) => string;
  /** Collects garbage at once. Without this function the runtime decides when garbage is collected. */
  readonly collectGarbage?: () => void;
  /** The folder of the recordings. */
  readonly recordings?: string | undefined;
  readonly keys: KeyRing;
  readonly realNowMs: () => number;
  readonly isSandbox: boolean;
  /** Makes ids that grow with time. `processNumber` makes the ids of two processes different. */
  readonly timeOrderedIds: (processNumber: () => number) => IdMinter;
  readonly seededIds: (next: bigint) => IdMinter;
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined;
}

export interface OpenWorld extends World {
  readonly clock: WorldClock;
}

/** The distance between the first ids of two starts of a seeded world. One run makes fewer ids than this. */
const SEEDED_IDS_PER_START = 1_000_000_000n;

export const migrationsOf = (registry: Registry): FeatureMigrations[] => [
  graphMigrations,
  authMigrations,
  jobMigrations,
  webhookMigrations,
  ...registry.features
    .filter((feature) => feature.migrations.length > 0)
    .map((feature) => ({ feature: feature.name, migrations: feature.migrations })),
];

export async function openWorld(options: WorldOptions): Promise<OpenWorld> {
  const { name, registry, seed, tracing, memory = newWorldMemory(options) } = options;
  const database = tracing === undefined ? options.database : new TracedDatabase(options.database, tracing);
  const clock = await WorldClock.open(database, options.realNowMs);
  const ids = seed === undefined ? options.timeOrderedIds(() => database.processNumber) : options.seededIds(await nextSeededId(database, seed));
  const world = new World({
    name,
    database,
    clock,
    ids,
    seed,
    ports: options.ports,
    profile: options.profile,
    calendar: options.calendar,
    settings: options.settings,
    ...memory,
    outbound: options.outbound,
    webhookFields: registry.webhookFields,
    jobKinds: [...erasureJobs(registry.features), ...registry.features.flatMap(({ jobs }) => jobs ?? [])],
    observer: options.observer ?? nobody,
    realNowMs: options.realNowMs,
    deliveriesPerSecondMax: options.deliveriesPerSecondMax,
    hasWebhookLog: options.hasWebhookLog,
    randomSecret: options.randomSecret,
    collectGarbage: options.collectGarbage ?? (() => {}),
    recordings: options.recordings,
    keys: options.keys,
    tracing,
  }) as OpenWorld;
  // Background work may become due when this or another process moves the clock.
  database.onInvalidate((kind) => {
    if (kind === undefined || kind === settingFact) world.work.wake();
  });
  database.onInvalidate((kind) => {
    if (kind !== erasureFact) return;
    world.requests.clear();
    world.unserved?.clear();
  });
  world.onClosed(answerOtherProcesses(world, (error) => (options.observer ?? nobody).workFailed(error)));
  return world;
}

const nobody: WorkObserver = { ...silentObserver, jobFailed: () => {}, workFailed: () => {} };

/**
 * The first id of this start of a seeded world. The seed decides the first id of the world's first start. Each later start has a range of its own
 * after that.
 */
async function nextSeededId(database: World["database"], seed: number): Promise<bigint> {
  const start = (1n << 52n) + BigInt(seed % 1_000_000) * (1n << 40n);
  return database.write(async (tx) => {
    const starts = BigInt((await findSetting(tx, "seeded_starts")) ?? "0");
    await saveSetting(tx, "seeded_starts", String(starts + 1n));
    return start + starts * SEEDED_IDS_PER_START;
  });
}

/** The memory that a process keeps about a world besides the world's database, whether the world is open or idle. */
export interface WorldMemory {
  readonly requests: RequestLog;
  readonly unserved: UnservedNames | undefined;
  readonly faults: Faults;
  readonly rateLimits: RateLimits;
}

type MemoryTools = Pick<WorldOptions, "faults" | "rateLimits" | "isSandbox"> & { readonly logMemory?: LogMemory };

export const newWorldMemory = (tools: MemoryTools): WorldMemory => ({
  requests: new RequestLog(tools.logMemory),
  unserved: tools.isSandbox ? new UnservedNames() : undefined,
  faults: new Faults(tools.faults),
  rateLimits: new RateLimits(tools.rateLimits),
});

export function clearMemory({ requests, unserved, faults, rateLimits }: WorldMemory): void {
  requests.clear();
  unserved?.clear();
  faults.clear();
  rateLimits.clear();
}

/** Removes a node and everything that belongs to it. Returns whether the node existed. */
export async function removeNode(tx: Transaction, registry: Registry, world: OpenWorld, section: WorldSection, id: string): Promise<boolean> {
  if (!(await section.remove(tx, id, world))) return false;
  // Other features store data below a page, app or account.
  if (!isNodeId(id)) return true;
  for (const feature of registry.features) await feature.onOwnerDeleted?.(tx, id, world);
  await world.tokens.forgetNode(tx, id, unixSeconds(world.clock));
  return true;
}
