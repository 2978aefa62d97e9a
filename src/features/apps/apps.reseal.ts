/** Encrypts ("seals") all stored secrets again after the sealing key was replaced (D-171). All stored secrets belong to apps. */
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import type { Reader, Transaction } from "#storage/database";
import type { PageRequest } from "#storage/keyset";
import { SealBroken, type Sealer } from "#storage/sealing";
import { countSealedOtherwise, listApps, resealSecret } from "./apps.store.ts";

const KIND = "reseal_secrets";
/** The key of the job in the job table; each world has only one job that seals secrets again. */
const KEY = "world";
/** The number of apps whose secrets one transaction seals with the new key. */
const APPS_MAX = 100;
const ASK_AGAIN_MS = 3_600_000;

export async function scheduleReseal(tx: Transaction, { jobs, clock }: World): Promise<void> {
  await jobs.schedule(tx, { kind: KIND, key: KEY, dueMs: clock.nowMs() });
}

export async function countOthers(reader: Reader, { sealer, ports }: World): Promise<number> {
  return (await countSealedOtherwise(reader, sealer.prefix)) + (await ports.get("webhook_subscription").countSealedOtherwise(reader, sealer.prefix));
}

/** Returns true if the world has no apps, or if the world's keys open the secret of at least one of the first hundred apps. */
export async function opensAny(reader: Reader, { sealer }: World): Promise<boolean> {
  const { rows } = await listApps(reader, { limit: APPS_MAX });
  return rows.length === 0 || rows.some(({ sealed_secret }) => isOpened(sealer, sealed_secret));
}

function isOpened(sealer: Sealer, sealed: string): boolean {
  try {
    sealer.open(sealed);
    return true;
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

/**
 * The job that seals all secrets with the new key. After each transaction every value is sealed with one of the world's keys, so the process may end
 * at any time: the next run of the job reads all apps again and seals the remaining values. The job that seals secrets is scheduled again until no
 * previous key is left.
 */
export const resealJob: JobKind<World> = {
  kind: KIND,
  async run(world, _key, _payload, job) {
    const broken = await resealAll(world);
    if (broken > 0) throw new Error(`${broken} sealed values cannot be opened with any key, and were left unchanged`);
    const nowMs = world.webhooks.deps.realNowMs();
    // The previous keys are removed only when the newest key has sealed all values.
    if ((await countOthers(world.database.reader, world)) === 0) {
      await world.keys.retire(nowMs);
      world.useKeys();
    }
    const ends = world.keys.previous.flatMap(({ untilMs }) => (untilMs === undefined ? [] : [untilMs]));
    if (ends.length === 0) return;
    const waitMs = Math.min(...ends) - nowMs;
    // A previous key may still exist after its end time has passed, because other data still need the key. The job runs again an hour later to remove
    // a previous key that still exists.
    const dueMs = world.clock.nowMs() + (waitMs > 0 ? waitMs : ASK_AGAIN_MS);
    await world.database.write(async (tx) => {
      await job.settle(tx);
      await world.jobs.schedule(tx, { kind: KIND, key: KEY, dueMs });
    });
  },
};

/** Seals the secrets of all apps with the new key. Returns the number of values that no key opens. */
async function resealAll(world: World): Promise<number> {
  const { sealer, database } = world;
  const broken = new Set<string>();
  const again = (sealed: string): string | undefined => {
    if (sealed.startsWith(sealer.prefix)) return undefined;
    try {
      return sealer.seal(sealer.open(sealed));
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      broken.add(sealed);
      return undefined;
    }
  };
  for (let page: PageRequest | undefined = { limit: APPS_MAX }; page !== undefined; ) {
    const { rows, hasNext, lastKey } = await listApps(database.reader, page);
    await database.write(async (tx) => {
      for (const app of rows) {
        const sealed = again(app.sealed_secret);
        if (sealed !== undefined) await resealSecret(tx, app, sealed);
        await world.ports.get("webhook_subscription_writes").resealOfApp(tx, app.id, again);
      }
    });
    page = hasNext && lastKey !== undefined ? { limit: APPS_MAX, after: lastKey } : undefined;
  }
  return broken.size;
}
