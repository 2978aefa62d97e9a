/** Tests how many rows a file may have, and how often a run collects garbage while it reads a long file. */
import { expect, test } from "bun:test";
import type { World } from "#graph/worlds/world";
import { HEADER, row } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import type { Bytes } from "../formats/bytes.ts";
import { ROWS_MAX, ROWS_PER_WRITE } from "../product-feeds.limits.ts";
import { readFeed } from "./feed-reading.ts";
import { Ingestion } from "./ingestion.ts";

const UPLOAD = { feed: "8101", n: 1, generation: 1 };
const SHOWN = { catalog: "8001", generation: 0, item_count: 0 };

test("D-141: a file has at most five million rows, good and bad ones together", async () => {
  const bad = Buffer.from("bad\n".repeat(100_000));
  async function* file(rows: number): Bytes {
    yield Buffer.from(`${HEADER}\n`);
    for (let row = 0; row < rows; row += 100_000) yield bad.subarray(0, 4 * Math.min(100_000, rows - row));
  }
  const lastOf = async (rows: number) => (await Array.fromAsync(readFeed(file(rows), "csv"))).at(-1);
  expect(await lastOf(ROWS_MAX)).toMatchObject({ rows: ROWS_MAX, bad_rows: ROWS_MAX });
  expect(await lastOf(ROWS_MAX + 1)).toMatchObject({ problem: `the file has more than ${ROWS_MAX} rows` });
});

test("garbage is collected after every ten writes of rows, and never otherwise", async () => {
  const { world } = await openPlaza();
  let writes: (number | "collected")[] = [];
  // A world whose database accepts each write at once.
  const taking: Partial<World> = {
    ...{ ids: world.ids, clock: world.clock, collectGarbage: () => writes.push("collected") },
    database: { write: async () => ({ added: writes.push(writes.length), replaced: 0, overwritten: [] }) } as never,
  };
  const written = async (groups: number) => {
    writes = [];
    const rows = `${Array.from({ length: ROWS_PER_WRITE }, () => row("a")).join("\n")}\n`;
    async function* file() {
      yield Buffer.from(`${HEADER}\n`);
      for (let group = 0; group < groups; group++) yield Buffer.from(rows);
    }
    await new Ingestion(taking as World, UPLOAD, SHOWN, false).run(readFeed(file(), "csv"));
    return writes.flatMap((what, at) => (what === "collected" ? [at] : []));
  };
  // The last write of the run is the write at the end of the file.
  expect([await written(9), await written(10), await written(20)]).toEqual([[], [10], [10, 21]]);
});
