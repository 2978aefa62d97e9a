import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import {
  events,
  isLive,
  isPublished,
  isTakenDown,
  type LiveEvent,
  noticeEndOf,
  type State,
  states,
  statuses,
  statusOf,
  takesFeed,
  timers,
  transitions,
} from "./states.ts";

/** Returns the rows of a table in the comment of `states.ts` with this number of columns, as lists of cells. */
function rowsOfProse(columns: number): string[][] {
  const prose = readFileSync(new URL("./states.ts", import.meta.url), "utf8").split("*/", 1)[0] ?? "";
  return [...prose.matchAll(/^ \* \|(.+)\|$/gm)]
    .map(([, row = ""]) => row.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === columns && cells[0] !== "state" && cells[0] !== "from" && !cells[0]?.startsWith("-"));
}

describe("the state table of live videos", () => {
  test("the comment and the data agree", () => {
    const moves = states.flatMap((from) => Object.entries(transitions[from]).map(([event, to]) => `${from} ${event} ${to}`));
    // order: the tables in the comment follow the life of a video, and the data follow the order of the types.
    expect(
      rowsOfProse(3)
        .map((cells) => cells.join(" "))
        .sort(),
    ).toEqual(moves.sort());
    const shown: Record<string, string> = { ...Object.fromEntries(states.map((state) => [state, statusOf[state]])), deleted: "none" };
    expect(Object.fromEntries(rowsOfProse(2) as [string, string][])).toEqual(shown);
  });

  test("D-51: every status has a state, and every event and state is reachable", () => {
    expect(new Set(states.map((state) => statusOf[state]))).toEqual(new Set(statuses));
    const happening = new Set(states.flatMap((state) => Object.keys(transitions[state])));
    expect(happening).toEqual(new Set<string>(events));
    const reached = new Set(states.flatMap((state) => Object.values(transitions[state])));
    // Every video begins unpublished.
    for (const state of states) if (state !== "unpublished") expect({ state, isReached: reached.has(state) }).toEqual({ state, isReached: true });
  });

  test("each timer's event is a transition of its state", () => {
    expect(Object.keys(timers)).not.toEqual([]);
    for (const [state, timer] of Object.entries(timers)) expect(states).toContain(transitions[state as State][timer.event] as State);
  });

  test("LIVE-13: every video that was not taken down can be deleted; LIVE-15: every video that is or was live can be taken down", () => {
    for (const state of states) {
      expect(transitions[state].deleted).toBe(isTakenDown(state) ? undefined : "deleted");
      const isOrWasLive = isLive(state) || state === "stopped" || state === "processing" || state === "vod";
      expect(transitions[state].taken_down).toBe(isOrWasLive ? "taken_down" : undefined);
    }
  });

  test("LIVE-14, LIVE-16: no path through the table leaves deleted or lapsed", () => {
    const walk = fc.array(fc.constantFrom(...events), { maxLength: 40 });
    fc.assert(
      fc.property(walk, (happenings) => {
        let at: State | "deleted" = "unpublished";
        for (const event of happenings as LiveEvent[]) {
          const next: State | "deleted" | undefined = at === "deleted" ? undefined : transitions[at][event];
          if (at === "deleted" || at === "lapsed") expect(next).toBeUndefined();
          at = next ?? at;
        }
      }),
    );
  });

  test("LIVE-11, LIVE-12: no broadcast continues without audio", () => {
    for (const state of states) {
      const next = transitions[state].audio_missing;
      if (next !== undefined && next !== "deleted") expect(next === "ending" || !isLive(next)).toBe(true);
      if (state === "live") expect(next).toBe("ending");
    }
  });

  test("LIVE-10: an encoder may connect only before and during the reconnect window", () => {
    expect(states.filter(takesFeed)).toEqual(["unpublished", "scheduled_unpublished", "scheduled_live", "live", "reconnecting", "key_replaced"]);
  });

  test("a video that was live and is not taken down is published", () => {
    expect(states.filter(isPublished)).toEqual(["live", "reconnecting", "key_replaced", "key_dead", "ending", "stopped", "processing", "vod"]);
  });

  test("LIVE-15: the restore notice ends with the second in which its deadline falls", () => {
    const end = (deadline_ms: number | null, state: State = "taken_down") => noticeEndOf({ state, deadline_ms });
    expect([end(5_000), end(5_001), end(5_999), end(null), end(5_000, "live")]).toEqual([5, 6, 6, null, null]);
  });
});
