/** Tests when the ingest process is started, restarted and ended by force; the test itself makes the timers run out. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { catchTimers, stopMonotonicClock } from "#harness/time/stopped-time";
import type { IngestConfig } from "./channel.ts";
import { startIngest } from "./ingest-process.ts";

/** A program for the child process: it listens, sends one question, and ends when the server says so, unless its `hostname` is `deaf`. */
const PROGRAM = `
import { appendFileSync } from "node:fs";
process.on("message", (message) => {
  if (message.kind === "stop" && !globalThis.isDeaf) process.exit(0);
  if (message.kind !== "config") return;
  globalThis.isDeaf = message.config.hostname === "deaf";
  appendFileSync(message.config.recordings + "/starts", process.pid + "\\n");
  process.send({ kind: "listening" });
  process.send({ kind: "check", id: 1, key: "k" });
});
`;

function open(hostname = "") {
  const folder = temporaryFolder();
  const program = join(folder, "program.mjs");
  writeFileSync(program, PROGRAM);
  const clock = stopMonotonicClock(1_000);
  const { timeouts } = catchTimers("/src/ingest/ingest-process.ts");
  const seen: string[] = [];
  const ingest = startIngest(
    { hostname, port: 7, recordings: folder } as IngestConfig,
    {
      died: (ending) => void seen.push(`died: ${ending}`),
      failed: (error) => void seen.push(`failed: ${(error as Error).message}`),
      counted: () => {},
    },
    program,
  );
  ingest.serve({
    check: async () => void seen.push("listens"),
    start: async () => undefined,
    end: async () => {},
    refused: async () => {},
    report: async () => [],
    lost: async () => void seen.push("lost"),
  });
  const pids = (): number[] =>
    existsSync(join(folder, "starts")) ? readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number) : [];
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await Bun.sleep(5);
  };
  const waits = () => timeouts.map(({ ms }) => ms);
  const kill = (): void => void process.kill(pids().at(-1) as number, "SIGKILL");
  /** Whether the process that was started last is alive. */
  const isAlive = (): boolean => {
    try {
      return process.kill(pids().at(-1) as number, 0);
    } catch {
      return false;
    }
  };
  const begun = async (): Promise<void> => {
    await until(() => timeouts.length === 1);
    timeouts[0]?.fire();
    await until(() => seen.at(-1) === "listens");
  };
  return { clock, ingest, seen, timeouts, waits, until, kill, isAlive, begun };
}

test("it starts a moment after the server, again after a second if it lived for less than five, and otherwise at once", async () => {
  const { clock, ingest, seen, timeouts, waits, until, kill, begun } = open();
  await until(() => timeouts.length === 1);
  expect([waits(), seen]).toEqual([[50], ["lost"]]);
  await begun();
  clock.ms += 4_999;
  kill();
  await until(() => timeouts.length === 2);
  expect([waits(), seen.splice(0)]).toEqual([
    [50, 1_000],
    ["lost", "listens", "died: SIGKILL", "lost"],
  ]);
  timeouts[1]?.fire();
  await until(() => seen.at(-1) === "listens");
  clock.ms += 5_000;
  kill();
  await until(() => seen.length === 4);
  expect([waits(), seen]).toEqual([
    [50, 1_000],
    ["listens", "died: SIGKILL", "lost", "listens"],
  ]);
  await ingest.stop();
});

test("a process that does not end within five seconds is killed", async () => {
  const { ingest, timeouts, waits, until, isAlive, begun } = open("deaf");
  await begun();
  const stopped = ingest.stop();
  expect([waits(), isAlive()]).toEqual([[50, 5_000], true]);
  timeouts[1]?.fire();
  await stopped;
  await until(() => !isAlive());
});

test("a server whose process has just died, or was not started yet, ends at once", async () => {
  const { ingest, seen, timeouts, until, kill, begun } = open();
  await begun();
  kill();
  await until(() => timeouts.length === 2);
  await ingest.stop();
  expect([timeouts.length, seen.filter((one) => one === "listens")]).toEqual([2, ["listens"]]);
  await open().ingest.stop();
});
