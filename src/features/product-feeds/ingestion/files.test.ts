/** D-147: tests that a file is stored unchanged and in parts of one size, no matter in which pieces the file arrives. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { feedWorld } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import { PART_BYTES } from "../product-feeds.limits.ts";
import { fetchFile, PartWriter } from "./files.ts";
import { findPart } from "./uploads.store.ts";
import { receiveUrl } from "./uploads.ts";

/** Returns a file in which neighbouring bytes differ, and whose stored parts all begin differently. */
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

test("a file can have as many bytes as the operator allows, and not one more", async () => {
  expect(await stored(2_000, [1_000], 2_000)).toMatchObject({ bytes: 2_000, isSame: true });
  await expect(stored(2_001, [1_000], 2_000)).rejects.toThrow("the file is larger than 2000 bytes");
});

/** The tests below check the result of fetching a file for each kind of response of the file's server. */
const MINUTE_MS = 60_000;
const UPLOAD = { feed: "8101", n: 1, generation: 1 };
const ADDRESS = "https://a.example/feed.csv";

onEachDatabase("a feed file at an address", (database) => {
  async function open(status: number, body = new Uint8Array(3), fail?: Error) {
    const { world } = await openPlaza({ database, settings: { feed_file_bytes_max: 2 * PART_BYTES } });
    type Asked = Parameters<typeof world.outbound.request>[0];
    const asked: Asked[] = [];
    const response = { status, body };
    world.outbound.request = (async (request: Asked) => {
      asked.push(request);
      await request.takeBody?.(Buffer.from(response.body));
      if (fail !== undefined) throw fail;
      return { status: response.status };
    }) as never;
    return { world, asked, response, fetched: () => fetchFile(world, UPLOAD, ADDRESS) };
  }

  test("is read for up to half an hour with pauses of two minutes, up to one byte beyond the limit", async () => {
    const { asked, fetched } = await open(200);
    expect(await fetched()).toBeUndefined();
    expect(asked).toMatchObject([
      { method: "GET", url: ADDRESS, deadlineMs: 30 * MINUTE_MS, connectionMs: 10_000, silenceMs: 120_000, responseBytesMax: 2 * PART_BYTES + 1 },
    ]);
  });

  test("is accepted only with status 200, and redirects are not followed", async () => {
    const { response, fetched } = await open(200);
    for (const [status, problem] of [
      [201, "the address returned status 201"],
      [204, "the address returned status 204"],
      [299, "the address returned status 299"],
      [300, "the address returned status 300; redirects are not followed"],
      [399, "the address returned status 399; redirects are not followed"],
      [400, "the address returned status 400"],
      [503, "the address returned status 503"],
      [200, undefined],
    ] as const) {
      response.status = status;
      expect(await fetched()).toBe(problem as string);
    }
  });

  test("that is too large, refused or unreachable reports so; a failure of Plaza is not a fault of the file", async () => {
    const large = await open(200, new Uint8Array(2 * PART_BYTES + 1));
    expect(await large.fetched()).toBe(`the file is larger than ${2 * PART_BYTES} bytes`);
    for (const error of [new CallbackRefused("an address of the internal network"), new RequestFailed("connect", "nobody listens")])
      expect(await (await open(200, undefined, error)).fetched()).toBe(error.message);
    await expect((await open(200, undefined, new Error("the disk is full"))).fetched()).rejects.toThrow("the disk is full");
  });

  test("is fetched for an existing feed; for a deleted one nothing begins", async () => {
    const { world } = await openPlaza({ database, world: feedWorld });
    const taken = await world.database.write(async (tx) => {
      const keys = [];
      for (const feed of ["8101", "8199"]) {
        const key = await receiveUrl(tx, world, feed, ADDRESS, { isUpdate: false });
        keys.push([feed, key?.n, (await world.jobs.dueTimeOf(tx, "feed_ingestion", feed)) !== undefined]);
      }
      return keys;
    });
    expect(taken).toEqual([
      ["8101", 1, true],
      ["8199", undefined, false],
    ]);
  });

  test("replaces the stored parts of an earlier run", async () => {
    const { world, response, fetched } = await open(200, new Uint8Array(PART_BYTES + 1).fill(1));
    await fetched();
    response.body = Uint8Array.of(2, 2);
    await fetched();
    const stored = await Promise.all([0, 1].map((part) => findPart(world.database.reader, UPLOAD.feed, UPLOAD.n, part)));
    expect(stored.map((part) => part?.length)).toEqual([2, undefined]);
  });
});
