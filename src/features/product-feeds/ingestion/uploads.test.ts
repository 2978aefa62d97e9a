/** What becomes of a file whose feed is deleted while it comes. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { feedWorld } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { PART_BYTES } from "../product-feeds.limits.ts";
import { removeFeed } from "../product-feeds.removal.ts";
import { findPart } from "./uploads.store.ts";
import { receiveFile } from "./uploads.ts";

onEachDatabase("a file that is received", (database) => {
  test("is refused when its feed was deleted meanwhile, and nothing of it stays", async () => {
    const { world } = await openPlaza({ database, world: feedWorld });
    const stored = () => Promise.all([0, 1].map(async (part) => (await findPart(world.database.reader, "8101", 1, part))?.length));
    async function* file() {
      yield new Uint8Array(PART_BYTES + 1);
      expect(await stored()).toEqual([PART_BYTES, undefined]);
      await world.database.write((tx) => removeFeed(tx, world, nodeId("8101")));
      yield new Uint8Array(1);
    }
    await expect(receiveFile(world, "8101", file(), { isUpdate: false })).rejects.toThrow("the feed was deleted during the upload");
    await world.work.runDue();
    expect(await stored()).toEqual([undefined, undefined]);
  });
});
