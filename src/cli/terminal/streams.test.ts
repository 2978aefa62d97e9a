/** Tests a command whose output is closed, and a command whose input file is not text. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigProblem } from "#config/config";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { timeText } from "#kernel/clock";
import { nextTurn } from "#kernel/turns";
import { outputClosed } from "../process-end.ts";
import { linesOf, printable, readTextFile } from "./output.ts";

/** Adds the listeners for the end of the output only for this test. */
function watched(): Promise<void> {
  const streams = [process.stdout, process.stderr];
  const before = streams.map((stream) => stream.listeners("error"));
  afterThisTest(() => {
    for (const [at, stream] of streams.entries())
      for (const listener of stream.listeners("error")) if (!before[at]?.includes(listener)) stream.removeListener("error", listener as () => void);
  });
  return outputClosed();
}

test.each(["stdout", "stderr"] as const)("a reader of %s that stops reading is not an error; any other failure is", async (name) => {
  let isClosed = false;
  const closed = watched().then(() => {
    isClosed = true;
  });
  expect(() => process[name].emit("error", Object.assign(new Error("disk full"), { code: "ENOSPC" }))).toThrow("disk full");
  await nextTurn();
  expect(isClosed).toBe(false);
  process[name].emit("error", Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
  await closed;
  expect(isClosed).toBe(true);
});

test("a file is read unchanged, and an unreadable one is named with its option", async () => {
  const file = join(temporaryFolder(), "file.yaml");
  writeFileSync(file, " text é\n");
  expect(await readTextFile("--script", file)).toBe(" text é\n");
  const problem = await readTextFile("--script", `${file}.none`).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(ConfigProblem);
  expect((problem as Error).message).toStartWith(`--script: ${file}.none cannot be read: `);
});

test("texts of others move no cursor, and a time is the world's", () => {
  expect(printable("a\u001b[31m\u0000\u007f\u0085\n\tb é 🙂")).toBe("a\\u001b[31m\\u0000\\u007f\\u0085\\u000a\\u0009b é 🙂");
  expect([timeText(0), timeText(1_795_000_000.5)]).toEqual(["1970-01-01T00:00:00.000Z", "2026-11-18T11:06:40.500Z"]);
});

test("in the text of JSON each value has a line, named by its path; lists of plain values are one", () => {
  expect(
    linesOf({ id: "1", scopes: ["a", "b"], none: null, empty: {}, nothing: [], page: { name: "Café", roles: [{ user: "3" }, { user: "4" }] } }),
  ).toEqual([
    ...["id: 1", "scopes: a, b", "none: null", "empty: {}", "nothing: []", "page.name: Café", "page.roles[0].user: 3", "page.roles[1].user: 4"],
  ]);
  expect([linesOf({}), linesOf(7), linesOf(["a", "b"])]).toEqual([[], ["7"], ["a, b"]]);
});
