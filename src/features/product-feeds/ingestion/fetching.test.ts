/** What becomes of a file that is fetched, by what its address returns. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { feedWorld } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import { PART_BYTES } from "../product-feeds.limits.ts";
import { fetchFile } from "./fetching.ts";
import { findPart } from "./uploads.store.ts";
import { receiveUrl } from "./uploads.ts";

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

  test("is asked for half an hour, with pauses of two minutes, and for a byte more than a file may have", async () => {
    const { asked, fetched } = await open(200);
    expect(await fetched()).toBeUndefined();
    expect(asked).toMatchObject([
      { method: "GET", url: ADDRESS, deadlineMs: 30 * MINUTE_MS, connectionMs: 10_000, silenceMs: 120_000, responseBytesMax: 2 * PART_BYTES + 1 },
    ]);
  });

  test("is a file only with the status 200, and redirects are not followed", async () => {
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

  test("that is too large, refused or out of reach says so; what breaks in Plaza itself is no property of the file", async () => {
    const large = await open(200, new Uint8Array(2 * PART_BYTES + 1));
    expect(await large.fetched()).toBe(`the file is larger than ${2 * PART_BYTES} bytes`);
    for (const error of [new CallbackRefused("an address of the internal network"), new RequestFailed("connect", "nobody listens")])
      expect(await (await open(200, undefined, error)).fetched()).toBe(error.message);
    await expect((await open(200, undefined, new Error("the disk is full"))).fetched()).rejects.toThrow("the disk is full");
  });

  test("is taken for a feed that is there; for another one nothing is begun and nothing waits", async () => {
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

  test("replaces what an earlier run has stored of it", async () => {
    const { world, response, fetched } = await open(200, new Uint8Array(PART_BYTES + 1).fill(1));
    await fetched();
    response.body = Uint8Array.of(2, 2);
    await fetched();
    const stored = await Promise.all([0, 1].map((part) => findPart(world.database.reader, UPLOAD.feed, UPLOAD.n, part)));
    expect(stored.map((part) => part?.length)).toEqual([2, undefined]);
  });
});
