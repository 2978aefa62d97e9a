import { expect, test } from "bun:test";
import type { TSchema } from "typebox";
import { addressOf, expectBounds, textOf } from "#harness/schemas/bounds";
import { feedFileBytesMax } from "./ingestion/files.ts";
import { createUpload } from "./product-feeds.contract.ts";
import { feedControlRoutes } from "./product-feeds.control.ts";
import * as limits from "./product-feeds.limits.ts";
import { feedSection } from "./product-feeds.world.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

test("D-141, D-142, D-146, D-147: the limits of a file are those of the decisions, and the size of a step is a power of two", () => {
  const all: Readonly<Record<string, unknown>> = { ...limits };
  expect(all).toEqual({
    ...{ ROW_CHARACTERS_MAX: MIB, VALUE_CHARACTERS_MAX: 64 * KIB, RESCANNED_CHARACTERS_MAX: 16 * MIB, ROWS_MAX: 5_000_000 },
    ...{
      FILE_BYTES_MAX: 4 * GIB,
      UNPACKED_BYTES_MAX: 16 * GIB,
      UNPACKED_FREELY_BYTES: 16 * MIB,
      UNPACKED_RATIO_MAX: 200,
      READERS_MAX: 3,
      RUNS_MAX: 20,
      BAD_ROWS_KEPT_MAX: 100,
      PIECE_CHARACTERS: 32 * KIB,
      ROWS_PER_WRITE: 2_000,
    },
    ...{ PART_BYTES: MIB, FETCHED_URL_CHARACTERS_MAX: 2_048, REQUEST_BYTES_MAX: 8 * MIB, UPLOADS_WAITING_MAX: 20, FEEDS_MAX: 1_000 },
    ...{ FEED_NAME_CHARACTERS_MAX: 200, UPLOADS_KEPT_MAX: 100 },
  });
});

const routeOf = (operation: string) => feedControlRoutes.find((route) => route.operation === operation);

test("a caller waits for a report for at most a minute, and an address may be as long as browsers allow", () => {
  expectBounds(routeOf("readFeedUpload")?.query as TSchema, {}, { within_ms: { right: [undefined, 0, 60_000], wrong: [-1, 60_001, 0.5] } });
  const byUrl = routeOf("uploadFeed")?.content?.["application/json"] as TSchema;
  const url = { right: [addressOf(30), addressOf(2_048)], wrong: ["", addressOf(2_049)] };
  for (const schema of [byUrl, createUpload.params]) expectBounds(schema, {}, { url });
});

test("D-146, D-147: a feed's name has at most 200 characters, and no operator can allow less than a kilobyte for files", () => {
  expectBounds(feedSection.entry, { id: "8101", catalog: "8001" }, { name: { right: ["", textOf(200)], wrong: [textOf(201)] } });
  expect({ least: feedFileBytesMax.minimum, usual: feedFileBytesMax.default }).toEqual({ least: 1_024, usual: 4 * 2 ** 30 });
});
