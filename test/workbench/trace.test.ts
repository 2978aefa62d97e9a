import { afterEach, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openPage } from "#harness/live/browser";
import { applyChanges, type State } from "#workbench/trace/changes";
import { traceIn } from "#workbench/trace/page";
import type { Trace } from "#workbench/trace/trace";
import { endAll, newFolder, runPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const SUITE = join(import.meta.dir, "traced-suite.ts");

interface Printed {
  readonly refused: number;
  readonly world: string;
  readonly end: State;
  readonly copies: readonly { readonly world: string; readonly end: State }[];
}

async function traced() {
  const cwd = newFolder();
  const { code, stdout, stderr } = await runPlaza(["exec", "--trace", "run.html", "--", process.execPath, SUITE], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const path = join(cwd, "run.html");
  const html = readFileSync(path, "utf8");
  return { cwd, path, html, trace: traceIn(html), suite: JSON.parse(stdout) as Printed };
}

/** Checks that the final state of a world follows from its first state and its recorded changes. */
const endOf = ({ worlds, events }: Trace, world: string): State =>
  events.reduce<State>(
    (state, event) => (event.kind === "changes" && event.world === world ? applyChanges(state, event.changes) : state),
    worlds.find(({ name }) => name === world)?.first as State,
  );

test("a trace has the requests with their stories, webhooks, clock and faults; its changes lead to the end of the world; it has no secrets", async () => {
  const { html, trace, suite, cwd } = await traced();
  expect(html.match(/planted-[\w-]+/g)).toBeNull();
  expect(trace.exitCode).toBe(0);
  const own = trace.events.filter(({ world }) => world === suite.world);
  const first = trace.worlds.find(({ name }) => name === suite.world);
  expect(first?.test).toBe("labels of a page");
  expect(endOf(trace, suite.world)).toEqual(suite.end);
  // Worlds that were made from the same file, and a world from another file.
  expect(suite.copies).toHaveLength(3);
  for (const copy of suite.copies) {
    expect(endOf(trace, copy.world)).toEqual(copy.end);
    const changes = trace.events.flatMap((event) => (event.kind === "changes" && event.world === copy.world ? event.changes : []));
    expect(changes.map(({ key }) => key)).toEqual(["users"]);
  }
  const operations = own.flatMap((event) => (event.kind === "request" ? [`${event.request.operation} ${event.request.status}`] : []));
  expect(operations).toEqual([
    "createLabel 200",
    "createLabel 200",
    "attachLabel 200",
    `createLabel ${suite.refused}`,
    "listLabels 503",
    "deleteLabel 200",
  ]);
  const refused = own.find((event) => event.kind === "request" && event.request.status === suite.refused);
  expect(refused).toMatchObject({ request: { story: { policy: { scopes: ["pages_messaging"] }, steps: expect.anything() } } });
  const calls = own.flatMap((event) => (event.kind === "control" ? [`${event.method} ${event.path} ${event.detail}`] : []));
  expect(calls).toContain("POST clock/advance seconds: 60");
  expect(calls).toContain("POST faults operation: listLabels, status: 503, times: 1");
  expect(own.flatMap((event) => (event.kind === "webhook" ? [event.delivery.status] : []))).toEqual(["delivered"]);
  const text = await runPlaza(["trace", "run.html", "--failed"], { cwd });
  expect({ code: text.code, lines: text.stdout.split("\n").filter((line) => line.includes("→")) }).toMatchObject({
    code: 0,
    lines: [expect.stringContaining(`→ ${suite.refused}`), expect.stringContaining("→ 503")],
  });
  expect(text.stdout).toContain("pages_messaging");
  expect((await runPlaza(["trace", "run.html", "--search", "attachlabel"], { cwd })).stdout).toContain("1 of ");
});

test("the page opens from a file: search and filter find the refused request, and its detail says why", async () => {
  const { path, suite } = await traced();
  const address = pathToFileURL(path).href;
  const page = await openPage(address);
  const rows = 'document.querySelectorAll("#list button").length';
  const all = await page.evaluateUntil<number>(address, rows, (count) => count > 5);
  await page.evaluate(address, 'document.getElementById("failed").click()');
  expect(await page.evaluateUntil<number>(address, rows, (count) => count < all)).toBe(2);
  await page.evaluate(address, 'document.getElementById("search").focus()');
  await page.type("createlabel");
  await page.evaluateUntil<number>(address, rows, (count) => count === 1);
  await page.evaluate(address, 'document.querySelector("#list button").click()');
  const reason = await page.evaluateUntil<string>(address, 'document.getElementById("reason")?.textContent ?? ""', (text) => text !== "");
  expect(reason).toContain("lacks the scope pages_messaging: send a token with");
  expect(JSON.parse(await page.evaluate(address, `JSON.stringify(stateAtEnd(${JSON.stringify(suite.world)}))`))).toEqual(suite.end);
  expect(page.problems).toEqual([]);
});

test("a command that fails still leaves its trace, with its exit code; wrong files are named before and after", async () => {
  const cwd = newFolder();
  expect((await runPlaza(["exec", "--trace", "run.html", "--", "node", "-e", "process.exit(7)"], { cwd })).code).toBe(7);
  expect(traceIn(readFileSync(join(cwd, "run.html"), "utf8"))).toMatchObject({ exitCode: 7, command: "node -e process.exit(7)" });
  const nowhere = await runPlaza(["exec", "--trace", "missing/run.html", "--", "node", "-e", "require('fs').writeFileSync('ran', '')"], { cwd });
  expect({ code: nowhere.code, isNamed: nowhere.stderr.includes("missing/run.html"), ran: existsSync(join(cwd, "ran")) }).toEqual({
    ...{ code: 2, isNamed: true, ran: false },
  });
  writeFileSync(join(cwd, "other.html"), "<p>");
  expect(await runPlaza(["trace", "other.html"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not a trace of plaza exec"),
  });
  expect(await runPlaza(["trace", "none.html"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("none.html") });
});
