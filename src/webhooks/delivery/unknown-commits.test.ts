/** A connection that breaks at a commit: whether it was stored is not known, and here it was. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { startReceiver } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { jobWorkerOn, newWorkStore } from "#harness/work-database";
import { jobMigrations } from "#jobs/jobs.migrations";
import { databaseUnreachable } from "#kernel/errors";
import type { Database } from "#storage/database";
import { listDeliveries } from "../history/list.store.ts";

/** Writes whose answer is lost, by their number from here on. */
function losing(database: Database, lost: (write: number) => boolean): void {
  const write = database.write.bind(database);
  let writes = 0;
  database.write = async (body) => {
    const result = await write(body);
    if (lost(writes++)) throw databaseUnreachable();
    return result;
  };
}

test("deliveries that were claimed by such a commit go out once all the same", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 6 }), async (broken, events) => {
      const receiver = startReceiver();
      receiver.response = () => new Response("ok");
      const database = await (await newWorkStore("postgres", fixtureMigrations)).open();
      const fixture = openWebhooks(database, { features: newFeatures(receiver.url) });
      for (let n = 0; n < events; n++) await fixture.emit(String(4_001 + (n % 3)), { n });
      losing(database, (write) => broken.includes(write));
      for (let tries = 0; tries < 20; tries++) await fixture.loop.runDue().catch(() => {});
      const { rows } = await listDeliveries(database.reader, {}, { limit: 20 });
      expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 2));
      expect(receiver.posts.flatMap(({ values }) => values)).toHaveLength(events);
    }),
    { numRuns: 12 },
  );
}, 60_000);

test("so do jobs", async () => {
  const database = await (await newWorkStore("postgres", [jobMigrations])).open();
  const worker = jobWorkerOn(database);
  await database.write((tx) => worker.jobs.schedule(tx, { kind: "noted", key: "k", dueMs: 0 }));
  losing(database, (write) => write === 0);
  await expect(worker.loop.runDue()).rejects.toMatchObject({ errorName: "databaseUnreachable" });
  expect(worker.ran).toHaveLength(0);
  await worker.loop.runDue();
  expect(worker.ran.map(({ key }) => key)).toEqual(["k"]);
});
