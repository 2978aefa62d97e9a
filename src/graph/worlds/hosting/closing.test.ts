import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import type { WorkSource } from "#jobs/work-source";
import { sql } from "#storage/sql";

onEachDatabase("a closed world", (database) => {
  test("lets running work end, which needs the database", async () => {
    const { world } = await openPlaza({ database });
    const begun = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    let ended: unknown;
    const source: WorkSource = {
      async turn({ isLast }) {
        if (isLast) return { didWork: false, nextDueMs: undefined };
        begun.resolve();
        await goesOn.promise;
        ended = await world.database.reader.all(sql`SELECT 1 AS one`).catch((error) => error);
        return { didWork: false, nextDueMs: undefined };
      },
      settled: async () => false,
      isBusy: () => false,
      release: async () => {},
    };
    world.work.add(source);
    world.work.start();
    await begun.promise;
    const closing = world.close();
    goesOn.resolve();
    await closing;
    expect(ended).toEqual([{ one: 1 }]);
  });
});
