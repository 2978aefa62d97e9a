/**
 * Tests how the server starts, restarts and ends the ingest process. A small program replaces the ingest process, and each start of the program does
 * the steps that the test has asked for.
 */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import type { Admission, IngestConfig } from "./channel.ts";
import { startIngest } from "./ingest-process.ts";

/**
 * A program for the child process. The `hostname` in the configuration of the child process says what each start does. The program sends each message
 * that it receives back to the server, as a key.
 */
const PROGRAM = `
import { appendFileSync, readFileSync } from "node:fs";
const send = (message) => process.send(message);
process.on("message", (message) => {
  if (message.kind !== "config") {
    if ((message.id ?? 0) < 100) send({ kind: "check", id: 100, key: process.argv[2] + " heard " + JSON.stringify(message) });
    if (message.kind === "stop") process.exit(0);
    return;
  }
  const { recordings, hostname, port } = message.config;
  appendFileSync(recordings + "/starts", process.pid + "\\n");
  const nth = readFileSync(recordings + "/starts", "utf8").trim().split("\\n").length;
  const [what, more] = JSON.parse(hostname)[nth - 1];
  if (what === "fails") send({ kind: "failed", message: more });
  if (what === "fails" || what === "exits") return setTimeout(() => process.exit(what === "exits" ? more : 1), 20);
  if (what === "is silent") return;
  send({ kind: "listening" });
  for (const one of more) send(one);
  if (what === "dies") setTimeout(() => process.exit(port), 50);
});
`;

type Start = readonly [what: "fails" | "exits" | "is silent" | "listens" | "dies", more?: unknown];

const FEED = { world: "default", video: "5301", session: 2 };

function open(...starts: Start[]) {
  const folder = temporaryFolder();
  const program = join(folder, "program.mjs");
  writeFileSync(program, PROGRAM);
  const seen: string[] = [];
  const note = (text: string): void => void seen.push(text);
  const ingest = startIngest(
    { hostname: JSON.stringify(starts), port: 7, recordings: folder } as IngestConfig,
    {
      died: (ending) => note(`died: ${ending}`),
      failed: (error) => note(`failed: ${(error as Error).message}`),
      counted: ({ turned_away }) => note(`counted ${turned_away}`),
    },
    program,
  );
  afterThisTest(() => ingest.stop());
  const admission = (key: string): Admission | undefined => (key === "good" ? { feed: FEED } : undefined);
  ingest.serve({
    check: async (key) => {
      note(`check ${key}`);
      return admission(key);
    },
    start: async (key, { width, height }) => {
      note(`start ${key} ${width} ${height}`);
      return admission(key);
    },
    end: async (feed, ending) => note(`end ${JSON.stringify(feed)} ${ending}`),
    refused: async () => {},
    report: async (feeds) => {
      note(`report ${feeds.length}`);
      return feeds.filter(({ session }) => session < 2);
    },
    lost: async () => note("lost"),
  });
  const pids = (): number[] =>
    existsSync(join(folder, "starts")) ? readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number) : [];
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await Bun.sleep(5);
  };
  return { ingest, seen, pids, until };
}

test("the process gets responses, its reports are passed on, it learns which feeds must end, and it ends when the server says so", async () => {
  const connections = { open: 2, without_key: 1, turned_away: 3 };
  const report = { kind: "report", feeds: [FEED, { ...FEED, session: 1 }], connections };
  const asked = [
    { kind: "check", id: 1, key: "good" },
    { kind: "check", id: 2, key: "bad" },
    { kind: "start", id: 3, key: "good", width: 640, height: 360 },
    { kind: "end", feed: FEED, ending: "no_audio" },
    { ...report, feeds: [FEED] },
    report,
  ];
  const { ingest, seen, until } = open(["listens", asked]);
  await ingest.listening;
  await until(() => seen.length >= 13);
  const feed = JSON.stringify(FEED);
  const heard = (message: object): string => `check ingest heard ${JSON.stringify(message)}`;
  // order: the child's questions arrive in the order in which the child asks them, but the server's own messages may come between them.
  expect(seen.toSorted()).toEqual(
    [
      ...["lost", "check good", "check bad", "start good 640 360", `end ${feed} no_audio`, "report 1", "report 2", "counted 3", "counted 3"],
      ...[
        { kind: "reply", id: 1, feed: FEED },
        { kind: "reply", id: 2 },
        { kind: "reply", id: 3, feed: FEED },
      ].map(heard),
      heard({ kind: "drop", feeds: [{ ...FEED, session: 1 }] }),
    ].toSorted(),
  );
  seen.splice(0);
  await ingest.stop();
  expect(seen.filter((one) => one !== heard({ kind: "stop" }))).toEqual([]);
});

test("a process that does not begin to listen, or dies, is started again; its feeds are lost before", async () => {
  const { ingest, seen, pids, until } = open(["fails", "the port is taken"], ["dies", []], ["exits", 3], ["listens", []]);
  await ingest.listening;
  await until(() => pids().length === 4);
  expect(seen).toEqual([
    ...["lost", "failed: the port is taken", "lost", "died: exit code 7"],
    ...["lost", "failed: the ingest process ended before it was ready, with exit code 3", "lost"],
  ]);
  await ingest.stop();
  expect(pids()).toHaveLength(4);
});

test("a process that never listens is ended with the server, which does not wait for it", async () => {
  const { ingest, seen, pids, until } = open(["is silent"]);
  await until(() => pids().length === 1);
  await ingest.stop();
  await until(() => seen.length === 2);
  expect(seen).toEqual(["lost", "failed: the ingest process ended before it was ready, with SIGKILL"]);
});
