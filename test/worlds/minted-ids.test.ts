/** Checks the id of a new node in a world whose file contains ids that the world would later give to new nodes. */
import { expect, test } from "bun:test";
import { insertMinted } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";

/** Creates a node in a world that gives out ids from 1 on. All ids below `free` are taken. */
function mint(free: number) {
  let minted = 0;
  const ids = { mint: () => nodeId(String(++minted)) };
  const tried: string[] = [];
  const inserted = insertMinted(ids, async (id) => {
    tried.push(id);
    return Number(id) >= free;
  });
  return { inserted, tried };
}

test("ids are created until one is free, which becomes the node's", async () => {
  const { inserted, tried } = mint(3);
  expect([await inserted, tried]).toEqual([nodeId("3"), ["1", "2", "3"]]);
  expect(await mint(1_000).inserted).toBe(nodeId("1000"));
});

test("a thousand refusals have another cause, which is an error", async () => {
  const { inserted, tried } = mint(1_001);
  await expect(inserted).rejects.toThrow("none of 1000 minted ids was free");
  expect(tried).toHaveLength(1_000);
});
