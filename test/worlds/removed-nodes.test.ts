/**
 * Checks that a new node with the id of a removed node has no data of the removed node, and that no access to the removed node applies to the new
 * one.
 */
import { expect, test } from "bun:test";
import { exportWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { busyWorld } from "#harness/full-world";
import type { TestPlaza } from "#harness/plaza";
import { everyValue } from "#harness/search/stored-values";
import { buildRegistry } from "#main";

type Entry = Readonly<Record<string, unknown>> & { readonly id: string };

const sections = sectionsOf(buildRegistry()).filter(({ identity, key }) => identity === undefined && key in busyWorld);

/** The stored values that contain one of the ids. Random values and locks are left out of the search, because they may contain any digits. */
async function valuesNaming({ world }: TestPlaza, ids: ReadonlySet<string>) {
  const searched = (await everyValue(world.database)).filter(({ table, column }) => table !== "locks" && !/hash|sealed/.test(column));
  return searched.filter(({ text }) => (text.match(/(?<![\w-])\d+(?![\w-])/g) ?? []).some((number) => ids.has(number)));
}

/** The ids of nodes and of other world file entries. */
const idsOf = async (plaza: TestPlaza, file: Readonly<Record<string, readonly Entry[]>>): Promise<Set<string>> => {
  const nodes = (await plaza.dump(["nodes.id"])) as { value: unknown }[];
  const entries = Object.values(file).flatMap((list) => (Array.isArray(list) ? list : []));
  return new Set([...nodes.map(({ value }) => String(value)), ...entries.flatMap(({ id }) => (id === undefined ? [] : [id]))]);
};

onEachDatabase("a node with the id of a removed one", (database) => {
  for (const { key, entry: schema } of sections) {
    const { required = [] } = schema as { readonly required?: readonly string[] };
    test(`of ${key} is a new one, with the values and lists of a new node`, async () => {
      const { plaza, request } = await openControl({ database, world: busyWorld });
      const exported = async () => (await exportWorld(plaza.world, plaza.registry)) as Record<string, Entry[]>;
      const create = async (entry: object) => {
        const made = await request("POST", `nodes/${key}`, entry);
        expect({ key, status: made.status, body: made.body }).toMatchObject({ status: 201 });
        return made.body as Entry;
      };
      const remove = async (id: string) => {
        expect((await request("DELETE", `nodes/${key}/${id}`)).status).toBe(200);
        await plaza.world.work.runDue();
      };
      const stored: Entry[] = (await request("GET", `nodes/${key}`)).body.data;
      expect(stored).not.toEqual([]);
      for (const entry of stored) {
        const least = Object.fromEntries(required.flatMap((name) => (name === "id" ? [] : [[name, entry[name]]])));
        const known = await idsOf(plaza, await exported());
        await remove(entry.id);
        const without = await exported();
        const gone = known.difference(await idsOf(plaza, without));
        expect([...gone]).toContain(entry.id);
        expect(await valuesNaming(plaza, gone)).toEqual([]);
        const other = await create(least);
        await remove(other.id);
        const { secret: _, ...made } = await create({ ...least, id: entry.id });
        // Some entries contain their own id in a second key, too.
        const { secret: __, ...expected } = JSON.parse(JSON.stringify(other).replaceAll(other.id, entry.id));
        expect(made).toEqual(expected);
        const { [key]: among = [], ...rest } = await exported();
        const { [key]: before = [], ...others } = without;
        expect({ ...rest, [key]: among.filter(({ id }) => id !== entry.id) }).toEqual({ ...others, [key]: before });
      }
    });
  }
});
