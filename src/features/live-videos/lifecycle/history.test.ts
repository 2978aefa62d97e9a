import { expect, test } from "bun:test";
import { movesOf, NO_MOVES, withMove } from "./history.ts";

test("the history of a live video has its last 50 moves, the oldest first, however often its encoder breaks off", () => {
  let history = NO_MOVES;
  expect(movesOf(history)).toEqual([]);
  for (let ms = 1; ms <= 50; ms++) history = withMove(history, { ms, event: ms === 1 ? "declared" : "feed_lost", state: "reconnecting" });
  expect(movesOf(history)[0]).toEqual({ ms: 1, event: "declared", state: "reconnecting" });
  expect(movesOf(history).map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  history = withMove(history, { ms: 51, event: "feed_started", state: "live" });
  expect(movesOf(history).map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, at) => at + 2));
  expect(movesOf(history).at(-1)).toEqual({ ms: 51, event: "feed_started", state: "live" });
});
