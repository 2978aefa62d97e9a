import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, type RunningPlaza, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const demo = readFileSync(join(import.meta.dir, "../../worlds/demo.yaml"), "utf8");
/** With a version that the standard calendar does not have. */
const CALENDAR = 'versions: { platform: [{ version: "27.0", released: "2026-11-01T00:00:00Z" }] }';

function worldWith(more: string): string {
  const file = join(newFolder(), "world.yaml");
  writeFileSync(file, `${demo}\n${more}\n`);
  return file;
}

const query = "access_token=demo-page-token&oauth_token=demo-page-token";
const headers = { authorization: "Bearer demo-page-token", "content-type": "application/json" };

/** What an app asks: it lists, creates, reads what it created, and asks in a version of the calendar. */
async function runApp(base: string): Promise<number[]> {
  const ask = (path: string, init: RequestInit = {}) => fetch(`${base}${path}${path.includes("?") ? "&" : "?"}${query}`, { headers, ...init });
  const listed = await ask("/v26.0/2001/custom_labels?limit=5");
  const made = await ask("/v26.0/2001/custom_labels", { method: "POST", body: JSON.stringify({ page_label_name: "recorded" }) });
  const { id } = (await made.json()) as { id: string };
  const read = await ask(`/v26.0/${id}`);
  const newer = await ask("/v27.0/2001/personas");
  return [listed, made, read, newer].map(({ status }) => status);
}

/** Runs the app against the server through `plaza record`, and returns the recording. */
async function recorded(server: RunningPlaza): Promise<string> {
  const file = join(newFolder(), "calls.har");
  const recording = spawnPlaza(["record", "--upstream", server.ready.base_url, "--out", file]);
  const reader = recording.stdout.getReader();
  const line = new TextDecoder().decode((await reader.read()).value);
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] as string;
  expect(await runApp(address)).toEqual([200, 200, 200, 200]);
  // Complete after each request, whatever becomes of the program.
  expect(JSON.parse(readFileSync(file, "utf8")).log.entries).toHaveLength(4);
  recording.kill("SIGINT");
  expect(await recording.exited).toBe(0);
  return file;
}

describe("a recording against a server with a changed calendar", () => {
  test("compared with another server shows what the calendar changes, and nothing else", async () => {
    const file = await recorded(await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]));
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain("demo-page-token");
    expect(text).toContain('"_secrets":[{"in":"query","name":"access_token","secret":"secret-1"}');

    const compareNewServers = async (...more: string[]) => {
      const changed = await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]);
      const standard = await startPlaza(["--data", ":memory:", "--world", worldWith("")]);
      return await runPlaza([
        "compare",
        changed.ready.base_url,
        standard.ready.base_url,
        "--recording",
        file,
        "--secret",
        "demo-page-token",
        ...more,
      ]);
    };
    const { code, stdout } = await compareNewServers();
    expect({ code, summary: stdout.split("\n").filter((line) => !line.startsWith(" ")) }).toEqual({
      code: 1,
      summary: ["listPersonas (GET /{id}/personas): 8", "4 requests, 8 differences", ""],
    });
    expect(stdout).toContain("  GET /v27.0/2001/personas?access_token=…&oauth_token=…\n    status\n      first:  200\n      second: 400\n");

    const rules = join(newFolder(), "rules.yaml");
    writeFileSync(rules, "- { operation: listPersonas, path: status }\n- { operation: listPersonas, path: body.** }\n");
    const allowed = await compareNewServers("--rules", rules, "--json");
    expect({ code: allowed.code, result: JSON.parse(allowed.stdout) }).toEqual({ code: 0, result: { requests: 4, differences: [] } });
  });

  test("an id that a server made is the same id, whatever it is", async () => {
    const first = await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]);
    const file = await recorded(first);
    const [one, other] = [
      await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]),
      await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]),
    ];
    const result = await runPlaza(["compare", one.ready.base_url, other.ready.base_url, "--recording", file, "--secret", "secret-1=demo-page-token"]);
    expect(result).toMatchObject({ code: 0, stdout: "4 requests, 0 differences\n" });
    // What was created once was then read by its own id, not by that of the recording.
    const { body } = await one.control("GET", "requests?limit=10");
    expect((body.data as { operation: string; status: number }[]).map(({ operation, status }) => `${operation} ${status}`)).toContain(
      "readLabel 200",
    );
  });
});

test("compare runs the conformance cases against two servers", async () => {
  const [one, other] = [await startPlaza(["--data", ":memory:"]), await startPlaza(["--data", ":memory:"])];
  const control = (server: RunningPlaza, prefix: string) => [
    `--${prefix}control-url`,
    server.ready.control_url,
    `--${prefix}control-key`,
    server.ready.control_key as string,
  ];
  const { code, stdout } = await runPlaza([
    "compare",
    one.ready.base_url,
    other.ready.base_url,
    "--conformance",
    "--area",
    "personas",
    "--area",
    "general",
    ...control(one, ""),
    ...control(other, "second-"),
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d{3,} requests, 0 differences\n$/) });
});

test("conform prints what a server keeps, and writes the report as files", async () => {
  const server = await startPlaza(["--data", ":memory:"]);
  const folder = newFolder();
  const { base_url, control_url, control_key } = server.ready;
  const options = ["--base-url", base_url, "--control-url", control_url, "--control-key", control_key as string, "--area", "personas"];
  const { code, stdout } = await runPlaza(["conform", ...options, "--junit", join(folder, "r.xml"), "--html", join(folder, "r.html")]);
  expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: expect.stringMatching(/^\d+ passed, 0 failed$/) });
  expect(readFileSync(join(folder, "r.xml"), "utf8")).toMatch(/<testsuite name="personas" tests="\d+" failures="0"/);
  expect(readFileSync(join(folder, "r.html"), "utf8")).toContain('<tr id="A7-1"><td>A7-1</td><td class="shown">kept');
});

describe("wrong use", () => {
  test.each([
    [["compare", "http://127.0.0.1:1", "http://127.0.0.1:1"], "name either --recording or --conformance"],
    [["compare", "here", "http://127.0.0.1:1", "--conformance"], '"here" is not an http address'],
    [["compare", "http://127.0.0.1:1", "http://127.0.0.1:1", "--recording", "missing.har"], "missing.har cannot be read"],
    [["record", "--upstream", "there", "--out", "x.har"], '--upstream: "there" is not an http address'],
    [["record", "--upstream", "http://127.0.0.1:1", "--out", "missing/x.har"], "--out: "],
    [["conform", "--base-url", "there"], '"there" is not an address'],
    [["conform", "--base-url", "http://127.0.0.1:1", "--profile", "lax"], '--profile: "lax" is neither strict nor clients'],
  ])("%p: exit code 2, and a message that names it", async (args, message) => {
    const { code, stderr } = await runPlaza(args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
