/** D-147: a file is stored as it came, in parts of one size, wherever the pieces in which it arrives are cut. */
import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { PART_BYTES } from "../product-feeds.limits.ts";
import { PartWriter } from "./parts.ts";
import { findPart } from "./uploads.store.ts";

/** No two neighbours are equal, and no part begins as another does. */
const fileOf = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, at) => (at * 7 + (at >> 16)) & 255);

async function stored(size: number, cuts: readonly number[], most?: number) {
  const { world } = await openPlaza({ settings: most === undefined ? {} : { feed_file_bytes_max: most } });
  const parts = new PartWriter(world, "8101", 1);
  const file = fileOf(size);
  for (const [at, cut] of [0, ...cuts].entries()) await parts.write(file.subarray(cut, cuts[at] ?? size));
  const bytes = await parts.end();
  const found: Uint8Array[] = [];
  for (let part = 0; ; part++) {
    const one = await findPart(world.database.reader, "8101", 1, part);
    if (one === undefined) break;
    found.push(one);
  }
  return { bytes, sizes: found.map(({ length }) => length), isSame: Buffer.concat(found).equals(file) };
}

interface Case {
  readonly size: number;
  readonly cuts: readonly number[];
  readonly sizes: number[];
}

test.each<Case>([
  { size: 0, cuts: [], sizes: [] },
  { size: 1, cuts: [], sizes: [1] },
  { size: 5, cuts: [0, 0, 3, 3], sizes: [5] },
  { size: PART_BYTES, cuts: [], sizes: [PART_BYTES] },
  { size: PART_BYTES + 1, cuts: [PART_BYTES], sizes: [PART_BYTES, 1] },
  { size: 2 * PART_BYTES + 3, cuts: [1, PART_BYTES - 1, PART_BYTES + 1], sizes: [PART_BYTES, PART_BYTES, 3] },
])("$size bytes, cut at $cuts, are stored in parts of $sizes", async ({ size, cuts, sizes }) => {
  expect(await stored(size, cuts)).toEqual({ bytes: size, sizes, isSame: true });
});

test("a file may have as many bytes as the operator says, and not one more", async () => {
  expect(await stored(2_000, [1_000], 2_000)).toMatchObject({ bytes: 2_000, isSame: true });
  await expect(stored(2_001, [1_000], 2_000)).rejects.toThrow("the file is larger than 2000 bytes");
});
