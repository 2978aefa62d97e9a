/** Opens a world on a database: runs the migrations, and sets up the clock, the ids and the caches. */
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
  /** The memory of the world from the last time when it was open. If no earlier memory is given, the world gets new memory. */
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
  /** Receives reports about background work. If there is no receiver, background work is not reported. */
  readonly observer?: WorkObserver;
  readonly deliveriesPerSecondMax: number;
  readonly hasWebhookLog: boolean;
  readonly randomSecret: (byteCount: number) => string;
  /** Collects the runtime's garbage at once. Without this function, the runtime decides when it collects garbage. */
  readonly collectGarbage?: () => void;
  /** The folder for recordings. */
  readonly recordings?: string | undefined;
  readonly keys: KeyRing;
  readonly realNowMs: () => number;
  readonly isSandbox: boolean;
  /** Makes ids that grow with time. Because of `processNumber`, two processes never make the same id. */
  readonly timeOrderedIds: (processNumber: () => number) => IdMinter;
  readonly seededIds: (next: bigint) => IdMinter;
  /** Absent if the server does not record traces. */
  readonly tracing?: Tracing | undefined;
}

export interface OpenWorld extends World {
  readonly clock: WorldClock;
}

/** The distance between the first ids of two starts of a seeded world. Between two starts, a world makes fewer ids than this distance. */
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
  // Moving the clock, in this process or another one, may make background work due.
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
 * The first id that a seeded world makes after this start. After the world's first start, the first id depends only on the seed. Each later start of
 * a seeded world has a later range of ids.
 */
async function nextSeededId(database: World["database"], seed: number): Promise<bigint> {
  const start = (1n << 52n) + BigInt(seed % 1_000_000) * (1n << 40n);
  return database.write(async (tx) => {
    const starts = BigInt((await findSetting(tx, "seeded_starts")) ?? "0");
    await saveSetting(tx, "seeded_starts", String(starts + 1n));
    return start + starts * SEEDED_IDS_PER_START;
  });
}

/** The data about a world that a process has in memory and not in the world's database. The data in memory stay there while the world is idle. */
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
  // Other features may have data that belong to a page, app or account, which are removed with it.
  if (!isNodeId(id)) return true;
  for (const feature of registry.features) await feature.onOwnerDeleted?.(tx, id, world);
  await world.tokens.forgetNode(tx, id, unixSeconds(world.clock));
  return true;
}
