import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";
import { checkCases } from "./check-cases.ts";

afterEach(endAll);

async function start(...words: string[]) {
  const { base_url, control_url, control_key } = (await startPlaza(["--data", ":memory:", ...words])).ready;
  return { base: ["--base-url", base_url], control: ["--control-url", control_url, "--control-key", control_key as string] };
}

test("conform prints the clauses that a server keeps, and writes the report as files", async () => {
  const { base, control } = await start();
  const folder = newFolder();
  const files = ["--junit", join(folder, "r.xml"), "--html", join(folder, "r.html")];
  const { code, stdout } = await runPlaza(["conform", ...base, ...control, "--area", "personas", ...files]);
  expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: expect.stringMatching(/^\d+ passed, 0 failed$/) });
  expect(readFileSync(join(folder, "r.xml"), "utf8")).toMatch(/<testsuite name="personas" tests="\d+" failures="0"/);
  expect(readFileSync(join(folder, "r.html"), "utf8")).toContain('<tr id="A7-1"><td>A7-1</td><td class="shown">kept');
});

test("a newly started server passes an area, whatever its day", async () => {
  const plaza = await startPlaza(["--data", ":memory:"]);
  expect((await plaza.control("PUT", "clock", { now: 1_764_547_200 })).status).toBe(200); // 2025-12-01
  expect(await checkCases(plaza.ready, "strict", "page-labels")).toEqual({ code: 0, failed: [], broken: [] });
  // The command has set the world's clock once, and afterwards the clock goes on.
  const { now } = (await plaza.control("GET", "clock")).body as { now: number };
  expect(now - 1_795_000_000).toBeWithin(0, 3_600);
});

test("without a control API it skips cases that it cannot prepare, and a server with the standard world passes", async () => {
  const world = join(import.meta.dir, "../../../conformance/worlds/standard.yaml");
  const { base } = await start("--world", world);
  const { code, stdout } = await runPlaza(["conform", ...base, "--area", "token-inspection", "--area", "catalogs", "--area", "live-video"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\n\d+ passed, 0 failed\n$/) });
  for (const reason of ["the control API", "the control API, which puts the world catalogs in", "a server of its own, started with --rtmp-port off"])
    expect(stdout).toContain(`(needs ${reason})\n`);
});

test("if a case fails without a control API, it names the world that the server must have", async () => {
  const check = async (options: readonly string[]) => {
    const { code, stderr } = await runPlaza(["conform", ...options, "--clause", "A7-1"]);
    return { code, isNamed: stderr.includes("must have the nodes and tokens of conformance/worlds/standard.yaml") };
  };
  const world = join(import.meta.dir, "../../../conformance/worlds/standard.yaml");
  const [standard, demo] = [await start("--world", world), await start()];
  expect(await check(demo.base)).toEqual({ code: 1, isNamed: true });
  expect(await check(standard.base)).toEqual({ code: 0, isNamed: false });
  expect(await check([...demo.base, ...standard.control])).toEqual({ code: 1, isNamed: false });
});
