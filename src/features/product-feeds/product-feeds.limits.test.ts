import { expect, test } from "bun:test";
import * as limits from "./product-feeds.limits.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

test("D-141, D-142, D-146, D-147: what a feed's file may have is what the decisions say, and what one step takes is a power of two of bytes", () => {
  expect(limits).toEqual({
    ...{ ROW_CHARACTERS_MAX: MIB, VALUE_CHARACTERS_MAX: 64 * KIB, IN_VAIN_CHARACTERS_MAX: 16 * MIB, ROWS_MAX: 5_000_000 },
    ...{ FILE_BYTES_MAX: 4 * GIB, UNPACKED_BYTES_MAX: 16 * GIB, BAD_ROWS_KEPT_MAX: 100, PIECE_CHARACTERS: 32 * KIB, ROWS_PER_WRITE: 2_000 },
    ...{ PART_BYTES: MIB, FETCHED_URL_CHARACTERS_MAX: 2_048, REQUEST_BYTES_MAX: 8 * MIB, UPLOADS_WAITING_MAX: 20, FEEDS_MAX: 1_000 },
    ...{ FEED_NAME_CHARACTERS_MAX: 200, UPLOADS_KEPT_MAX: 100 },
  });
});
