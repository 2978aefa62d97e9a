/** Erasing a person: everything that is kept about the ids of a person, in every table, the bodies of delivered webhooks included (D-172). */
import type { JobKind } from "#jobs/job-kind";
import type { Database, Transaction } from "#storage/database";
import type { Erased, Feature } from "../../contract/feature.ts";
import type { World } from "../world.ts";
import { endErasure, findErasure, insertErasure } from "./erasures.store.ts";

const KIND = "person_erasure";
const SCRUB_KIND = "person_erasure_files";
/** Every process forgets the requests that it remembers. */
export const erasureFact = "person_erased";

/** In the transaction that removes the person's own nodes; `erased` says what it has removed. Returns the id of the erasure. */
export async function beginErasure(tx: Transaction, world: World, ids: readonly string[], erased: Erased): Promise<string> {
  const id = world.ids.mint();
  await insertErasure(tx, { id, started_ms: world.clock.nowMs(), ended_ms: null, erased: JSON.stringify(erased) });
  // The job holds the ids as long as it needs them, and its row goes when it ends.
  await world.jobs.schedule(tx, { kind: KIND, key: id, dueMs: world.clock.nowMs(), payload: ids });
  return id;
}

/** Each feature and the webhooks erase in transactions of their own, and find nothing more when they run again. */
const erase = (features: readonly Feature[]): JobKind<World> => ({
  kind: KIND,
  async run(world, id, payload, job) {
    const ids = payload as readonly string[];
    const { database, clock } = world;
    const begun = await findErasure(database.reader, id);
    const erased: Record<string, number> = JSON.parse(begun?.erased ?? "{}");
    const add = (more: Erased): void => {
      for (const [what, count] of Object.entries(more)) if (count > 0) erased[what] = (erased[what] ?? 0) + count;
    };
    for (const feature of features) add((await feature.erasePerson?.(world, ids)) ?? {});
    add(await world.webhooks.erase(ids));
    add({ snapshots: await deleteSavedStates(database) });
    await database.write(async (tx) => {
      await job.settle(tx);
      await world.jobs.schedule(tx, { kind: SCRUB_KIND, key: id, dueMs: clock.nowMs(), payload: erased });
      tx.invalidate(erasureFact, id);
    });
  },
});

/** What was kept of the world before may hold the person; nothing in it can be emptied. */
async function deleteSavedStates(database: Database): Promise<number> {
  let count = 0;
  for (const { name } of await database.listStates()) if (await database.deleteState(name)) count++;
  return count;
}

/** What was deleted also leaves the files. Nothing says whom the erasure was about any more. */
const scrub: JobKind<World> = {
  kind: SCRUB_KIND,
  async run({ database, clock }, id, erased, job) {
    await database.scrub();
    await database.write(async (tx) => {
      await job.settle(tx);
      await endErasure(tx, id, clock.nowMs(), JSON.stringify(erased));
    });
  },
};

export const erasureJobs = (features: readonly Feature[]): readonly JobKind<World>[] => [erase(features), scrub];
