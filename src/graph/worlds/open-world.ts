/** Opens a world on a database: migrations, clock, ids, caches. */
import { authMigrations } from "#auth/auth.migrations";
import { jobMigrations } from "#jobs/jobs.migrations";
import type { IdMinter } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { GuardedClient } from "#outbound/client";
import type { Database, FeatureMigrations } from "#storage/database";
import type { KeyRing } from "#storage/sealing";
import { silentObserver } from "#webhooks/observer";
import { webhookMigrations } from "#webhooks/webhooks.migrations";
import type { Registry } from "../contract/registry.ts";
import type { VersionCalendar } from "../versions/calendar.ts";
import { WorldClock } from "./clock.ts";
import { erasureFact, erasureJobs } from "./erasure/erasure.ts";
import type { FaultTools } from "./fault-injection.ts";
import { graphMigrations } from "./graph.migrations.ts";
import { newWorldMemory, type WorldMemory } from "./hosting/world-memory.ts";
import type { RateLimitConfig } from "./rate-limits.ts";
import { findSetting, saveSetting, settingFact } from "./settings.store.ts";
import { type Profile, type WorkObserver, World, type WorldSettings } from "./world.ts";

export interface WorldOptions {
  readonly name: string;
  readonly database: Database;
  /** Left out: the world begins without any. */
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
  /** Where left out, nothing is reported. */
  readonly observer?: WorkObserver;
  readonly deliveriesPerSecondMax: number;
  readonly randomSecret: (byteCount: number) => string;
  /** Where left out, the runtime decides when. */
  readonly collectGarbage?: () => void;
  /** A folder. */
  readonly recordings?: string | undefined;
  readonly keys: KeyRing;
  readonly realNowMs: () => number;
  /** Mints ids that grow with time; `processNumber` keeps those of two processes apart. */
  readonly timeOrderedIds: (processNumber: () => number) => IdMinter;
  readonly seededIds: (next: bigint) => IdMinter;
}

export interface OpenWorld extends World {
  readonly clock: WorldClock;
}

/** More ids than one run mints before the next start of a seeded world. */
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
  const { name, database, registry, seed, memory = newWorldMemory(options) } = options;
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
    randomSecret: options.randomSecret,
    collectGarbage: options.collectGarbage ?? (() => {}),
    recordings: options.recordings,
    keys: options.keys,
  }) as OpenWorld;
  // Moving the clock, here or in another process, may make background work due.
  database.onInvalidate((kind) => {
    if (kind === undefined || kind === settingFact) world.work.wake();
  });
  database.onInvalidate((kind) => {
    if (kind === erasureFact) world.requests.clear();
  });
  return world;
}

const nobody: WorkObserver = { ...silentObserver, jobFailed: () => {}, workFailed: () => {} };

/** The seed decides where the ids of a world's first start begin; each later start has a range of its own after it. */
async function nextSeededId(database: World["database"], seed: number): Promise<bigint> {
  const start = (1n << 52n) + BigInt(seed % 1_000_000) * (1n << 40n);
  return database.write(async (tx) => {
    const starts = BigInt((await findSetting(tx, "seeded_starts")) ?? "0");
    await saveSetting(tx, "seeded_starts", String(starts + 1n));
    return start + starts * SEEDED_IDS_PER_START;
  });
}
