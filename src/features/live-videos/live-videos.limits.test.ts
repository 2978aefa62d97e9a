import { expect, test } from "bun:test";
import * as limits from "./live-videos.limits.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

test("LIM-8, LIM-9, D-51, D-111 to D-113: windows and sizes are those of the document and the decisions", () => {
  const all: Readonly<Record<string, unknown>> = { ...limits };
  expect(all).toEqual({
    RECONNECT_WINDOW_MS: 2.5 * MINUTE,
    NEW_KEY_WINDOW_MS: 10 * MINUTE,
    RESTORE_NOTICE_MS: 7 * DAY,
    START_DELAY_MS: 4.5 * SECOND,
    START_MISSED_MS: 10 * MINUTE,
    SEALING_WAITS_MS: [5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE],
    STREAM_KEY_BYTES: 144 / 8,
    TITLE_CHARACTERS_MAX: 255,
    DESCRIPTION_CHARACTERS_MAX: 5_000,
    COMMENT_CHARACTERS_MAX: 8_000,
    CROSSPOSTED_PAGES_MAX: 50,
  });
});
