/** Erases a person: deletes all data about the person's ids from every table and from the bodies of delivered webhooks (D-172). */
import type { JobKind } from "#jobs/job-kind";
import type { Database, Transaction } from "#storage/database";
import type { Erased, Feature } from "../../contract/feature.ts";
import { removeRequests } from "../passed-requests.store.ts";
import type { World } from "../world.ts";
import { endErasure, findErasure, insertErasure } from "./erasures.store.ts";

const KIND = "person_erasure";
const SCRUB_KIND = "person_erasure_files";
/** The cached fact that is invalidated at the end of an erasure. When an erasure ends, every process clears its request log. */
export const erasureFact = "person_erased";

/**
 * Begins an erasure, in the transaction that removes the person's own nodes. The person's own nodes are counted in `erased`. Returns the id of the
 * erasure.
 */
export async function beginErasure(tx: Transaction, world: World, ids: readonly string[], erased: Erased): Promise<string> {
  const id = world.ids.mint();
  await insertErasure(tx, { id, started_ms: world.clock.nowMs(), ended_ms: null, erased: JSON.stringify(erased) });
  // The person's ids are stored in the job's row, which is deleted when the job ends.
  await world.jobs.schedule(tx, { kind: KIND, key: id, dueMs: world.clock.nowMs(), payload: ids });
  return id;
}

/**
 * The job that erases a person. Each feature and the webhooks module erase data in transactions of their own. The job of an erasure may run again,
 * because in a second run it finds no more data.
 */
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
      await removeRequests(tx);
      await world.jobs.schedule(tx, { kind: SCRUB_KIND, key: id, dueMs: clock.nowMs(), payload: erased });
      tx.invalidate(erasureFact, id);
    });
  },
});

/** Deletes all snapshots. Each snapshot may contain the person's data, and it is not possible to delete only some data of a snapshot. */
async function deleteSavedStates(database: Database): Promise<number> {
  let count = 0;
  for (const { name } of await database.listStates()) if (await database.deleteState(name)) count++;
  return count;
}

/** The job that removes deleted data from the database files. After this job the database files no longer contain the person's name. */
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
