/** Compares the joined ids of devices with a union-find structure, and tests the limit of ids. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { DEVICE_IDS_MAX } from "../app-events.limits.ts";
import { deleteJoinedIds, findJoinedIds, JoinedIds } from "./joined-ids.store.ts";
import { deleteEventsOfApp } from "./log.store.ts";

const [APP, OTHER] = [nodeId("1001"), nodeId("1002")];

interface Step {
  readonly ids: readonly string[];
  readonly isInstall: boolean;
}

/** Applies the steps of the history in one batch. Returns for each install whether it counts. */
const play = (database: Database, app: NodeId, steps: readonly Step[]): Promise<(boolean | undefined)[]> =>
  database.write(async (tx) => {
    const devices = await JoinedIds.open(
      tx,
      app,
      steps.flatMap(({ ids }) => ids),
    );
    const counted = steps.map(({ ids, isInstall }) => {
      devices.join(ids);
      return isInstall ? devices.install(ids) : undefined;
    });
    await devices.store();
    return counted;
  });

class UnionFind {
  readonly #above = new Map<string, string>();
  rootOf(id: string): string {
    const above = this.#above.get(id);
    return above === undefined ? id : this.rootOf(above);
  }
  join(ids: readonly string[]): void {
    const [first, ...others] = new Set(ids.map((id) => this.rootOf(id)));
    for (const other of others) this.#above.set(other, first as string);
  }
}

/** Ids do not contain U+0000 or lone surrogates: PostgreSQL cannot store such texts, and requests with them are refused earlier. */
const id = fc.string({ unit: "binary", minLength: 1, maxLength: 4 }).filter((text) => text.isWellFormed() && !text.includes("\u0000"));
const history = fc.uniqueArray(id, { minLength: 2, maxLength: 12 }).chain((ids) =>
  fc.array(fc.array(fc.record({ ids: fc.subarray(ids, { minLength: 1, maxLength: 2 }), isInstall: fc.boolean() }), { maxLength: 8 }), {
    maxLength: 6,
  }),
);

onEachDatabase("ids of devices", (kind) => {
  const open = async (): Promise<Database> => (await openPlaza({ database: kind })).world.database;

  test("D-290: ids that batches name together form a union-find, and a device installs once", async () => {
    const database = await open();
    await fc.assert(
      fc.asyncProperty(history, async (batches) => {
        await database.write((tx) => deleteEventsOfApp(tx, APP));
        const [known, installed] = [new UnionFind(), new Set<string>()];
        for (const batch of batches) {
          const due = batch.map(({ ids, isInstall }) => {
            known.join(ids);
            if (!isInstall) return undefined;
            const isFirst = ![...installed].some((one) => known.rootOf(one) === known.rootOf(ids[0] as string));
            installed.add(ids[0] as string);
            return isFirst;
          });
          expect(await play(database, APP, batch)).toEqual(due);
        }
        const all = [...new Set(batches.flat().flatMap(({ ids }) => ids))];
        for (const one of all) {
          const found = new Set([one, ...(await findJoinedIds(database.reader, APP, [one]))]);
          expect(found).toEqual(new Set(all.filter((other) => known.rootOf(other) === known.rootOf(one))));
          expect(await findJoinedIds(database.reader, OTHER, [one])).toEqual([]);
        }
      }),
      { numRuns: kind === "sqlite" ? 200 : 40 },
    );
  }, 120_000);

  test("D-290: a request that would give a device more ids than the limit joins nothing, and its install counts for each of its ids", async () => {
    const database = await open();
    const cookies = Array.from({ length: DEVICE_IDS_MAX }, (_, at) => `cookie:${at}`);
    const steps = cookies.map((cookie) => ({ ids: ["device:a", cookie], isInstall: false }));
    // The test applies the steps of the history in one batch, and then once more with one batch for each step.
    for (const batches of [[steps], steps.map((step) => [step])]) {
      await database.write((tx) => deleteEventsOfApp(tx, APP));
      for (const batch of batches) await play(database, APP, batch);
      expect((await findJoinedIds(database.reader, APP, ["device:a"])).length).toBe(DEVICE_IDS_MAX);
      const last = `cookie:${DEVICE_IDS_MAX - 1}`;
      expect(await findJoinedIds(database.reader, APP, [last])).toEqual([]);
      const install = (...ids: string[]) => play(database, APP, [{ ids, isInstall: true }]);
      expect([await install("device:a", last), await install("cookie:0"), await install(last), await install("device:b")]).toEqual([
        [true],
        [false],
        [false],
        [true],
      ]);
    }
  });

  test("D-290: two large devices are joined up to the limit, in any order", async () => {
    const database = await open();
    const join = (...ids: string[]) => play(database, APP, [{ ids, isInstall: false }]);
    const grow = async (name: string, size: number) => {
      for (let at = 1; at < size; at++) await join(`${name}0`, `${name}${at}`);
    };
    await grow("a", 40);
    await grow("b", 60);
    await grow("c", 2);
    await join("c1", "b3");
    expect(await findJoinedIds(database.reader, APP, ["c0"])).toHaveLength(62);
    await join("a7", "b9");
    expect(await findJoinedIds(database.reader, APP, ["a1"])).toHaveLength(40);
    await grow("d", 38);
    await join("d2", "c0");
    expect(await findJoinedIds(database.reader, APP, ["d1"])).toHaveLength(DEVICE_IDS_MAX);
  });

  test("D-172: ids are deleted for all apps, and the other ids of the device stay joined", async () => {
    const database = await open();
    for (const app of [APP, OTHER])
      await play(database, app, [
        { ids: ["a", "b"], isInstall: true },
        { ids: ["b", "c"], isInstall: false },
      ]);
    expect(await database.write((tx) => deleteJoinedIds(tx, ["b", "d"]))).toBe(2);
    for (const app of [APP, OTHER]) {
      expect((await findJoinedIds(database.reader, app, ["a"])).sort()).toEqual(["a", "c"]);
      expect(await play(database, app, [{ ids: ["c"], isInstall: true }])).toEqual([false]);
    }
  });
});
