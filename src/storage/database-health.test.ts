import { expect, test } from "bun:test";
import { DatabaseHealth, type DatabaseProblem, mergedReports } from "./database-health.ts";

function newHealth() {
  const time = { ms: 1_000_000 };
  const seen: string[] = [];
  const note = (what: string) => (problem: DatabaseProblem) => seen.push(`${what} ${problem.kind} ${problem.count}`);
  const health = new DatabaseHealth({ nowMs: () => time.ms, onSeen: note("seen"), onEnded: note("ended") });
  return { health, seen, time, kinds: () => health.report().problems.map(({ kind }) => kind) };
}

test("D-341: a problem is reported when it begins and once a minute while it goes on, with its last cause and the number of failures", () => {
  const { health, seen, time } = newHealth();
  health.failed("disk_full", new Error("first"));
  time.ms += 59_999;
  health.failed("disk_full", new Error("second"));
  expect(seen).toEqual(["seen disk_full 1"]);
  time.ms += 1;
  health.failed("disk_full", "not an error");
  health.failed("unreachable", new Error("x".repeat(600)));
  expect(seen).toEqual(["seen disk_full 1", "seen disk_full 3", "seen unreachable 1"]);
  const { problems, failures } = health.report();
  expect(problems).toMatchObject([
    { kind: "disk_full", cause: "not an error", since_ms: 1_000_000, last_ms: 1_060_000, count: 3, text: expect.stringContaining("Free some space") },
    { kind: "unreachable", cause: "x".repeat(500), count: 1 },
  ]);
  expect(failures).toEqual({ disk_full: 3, unreachable: 1 });
});

test("D-341: it ends with the first success five seconds after its last failure, of a write if only a write can tell", () => {
  const { health, seen, time, kinds } = newHealth();
  health.failed("disk_full", new Error("full"));
  health.failed("no_connection", new Error("none"));
  time.ms += 4_999;
  health.worked(true);
  expect(kinds()).toEqual(["disk_full", "no_connection"]);
  time.ms += 1;
  health.worked(false);
  expect(kinds()).toEqual(["disk_full"]);
  health.worked(true);
  expect(kinds()).toEqual([]);
  expect(seen).toEqual(["seen disk_full 1", "seen no_connection 1", "ended no_connection 1", "ended disk_full 1"]);
  // The test adds this number, because a counter of failures never decreases.
  expect(health.report().failures).toEqual({ disk_full: 1, no_connection: 1 });
});

test("D-341: a file that was changed or is damaged stays a problem", () => {
  const { health, time, kinds } = newHealth();
  for (const kind of ["file_changed", "file_damaged", "disk_error"] as const) health.failed(kind, new Error(kind));
  time.ms += 3_600_000;
  health.worked(true);
  expect(kinds()).toEqual(["file_changed", "file_damaged"]);
});

test("the problems of several processes are one list: from the first failure to the last one, with all of them", () => {
  const [one, other] = [newHealth(), newHealth()];
  one.health.failed("too_slow", new Error("early"));
  other.time.ms += 500;
  other.health.failed("too_slow", new Error("late"));
  other.health.failed("disk_full", new Error("full"));
  const { problems, failures } = mergedReports([other.health.report(), one.health.report()]);
  expect(problems).toMatchObject([
    { kind: "too_slow", cause: "late", since_ms: 1_000_000, last_ms: 1_000_500, count: 2 },
    { kind: "disk_full", count: 1 },
  ]);
  expect(failures).toEqual({ too_slow: 2, disk_full: 1 });
});
