import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { endAll, newFolder, type RunningPlaza, runPlaza, spawnPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

const demo = readFileSync(join(import.meta.dir, "../../../worlds/demo.yaml"), "utf8");
/** A calendar with a version that the standard calendar does not have. */
const CALENDAR = 'versions: { platform: [{ version: "27.0", released: "2026-11-01T00:00:00Z" }] }';

function worldWith(more: string): string {
  const file = join(newFolder(), "world.yaml");
  writeFileSync(file, `${demo}\n${more}\n`);
  return file;
}

const query = "access_token=demo-page-token&oauth_token=demo-page-token";
const headers = { authorization: "Bearer demo-page-token", "content-type": "application/json" };

/** The requests of an app: it lists nodes, creates a node and reads it, and names a version of the calendar. */
async function runApp(base: string): Promise<number[]> {
  const ask = (path: string, init: RequestInit = {}) => fetch(`${base}${path}${path.includes("?") ? "&" : "?"}${query}`, { headers, ...init });
  const listed = await ask("/v26.0/2001/custom_labels?limit=5");
  const made = await ask("/v26.0/2001/custom_labels", { method: "POST", body: JSON.stringify({ page_label_name: "recorded" }) });
  const { id } = (await made.json()) as { id: string };
  const read = await ask(`/v26.0/${id}`);
  const newer = await ask("/v27.0/2001/personas");
  return [listed, made, read, newer].map(({ status }) => status);
}

/** Starts `plaza record`. Returns the address at which the command takes requests. */
async function startRecording(upstream: string, file: string) {
  const recording = spawnPlaza(["record", "--upstream", upstream, "--out", file]);
  const line = new TextDecoder().decode((await recording.stdout.getReader().read()).value);
  return { recording, address: /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] as string };
}

/** Runs the app against the server through `plaza record`, and returns the recording. */
async function recorded(server: RunningPlaza): Promise<string> {
  const file = join(newFolder(), "calls.har");
  const { recording, address } = await startRecording(server.ready.base_url, file);
  expect(await runApp(address)).toEqual([200, 200, 200, 200]);
  // The recording is complete after each request, even if `plaza record` is killed.
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
      summary: ["other statuses than in the recording: 1", "listPersonas (GET /{id}/personas): 8", "4 requests, 8 differences", ""],
    });
    // The command prints a request once, with its differences below it.
    expect(stdout).toContain("  GET /v27.0/2001/personas?access_token=…&oauth_token=…\n    status\n      first:  200\n      second: 400\n    body.");
    expect(stdout.slice(stdout.indexOf("listPersonas (GET")).split("GET /v27.0/2001/personas?")).toHaveLength(2);

    const rules = join(newFolder(), "rules.yaml");
    writeFileSync(rules, "- { operation: listPersonas, path: status }\n- { operation: listPersonas, path: body.** }\n");
    const allowed = await compareNewServers("--rules", rules, "--json");
    expect({ code: allowed.code, result: JSON.parse(allowed.stdout) }).toEqual({
      code: 0,
      result: { requests: 4, differences: [], other_statuses: expect.any(Array) },
    });
  });

  test("an id of a server's own is treated as the same id, in any form", async () => {
    const first = await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]);
    const file = await recorded(first);
    const [one, other] = [
      await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]),
      await startPlaza(["--data", ":memory:", "--world", worldWith(CALENDAR)]),
    ];
    const result = await runPlaza(["compare", one.ready.base_url, other.ready.base_url, "--recording", file, "--secret", "secret-1=demo-page-token"]);
    expect(result).toMatchObject({ code: 0, stdout: "4 requests, 0 differences\n" });
    // After the app had created a node, the app read it by the new node's own id, not by the id in the recording.
    const { body } = await one.control("GET", "requests?limit=10");
    expect((body.data as { operation: string; status: number }[]).map(({ operation, status }) => `${operation} ${status}`)).toContain(
      "readLabel 200",
    );
  });
});

test("pages that an app reads are recorded, also through their links, and compared with each server's own cursors", async () => {
  const file = join(newFolder(), "pages.har");
  const upstream = await startPlaza(["--data", ":memory:"]);
  const { recording, address } = await startRecording(upstream.ready.base_url, file);
  const labels = `${address}/v26.0/2001/custom_labels?limit=1&${query}`;
  for (const page_label_name of ["one", "two"]) await fetch(labels, { method: "POST", headers, body: JSON.stringify({ page_label_name }) });
  type Page = { paging: { next: string; cursors: { after: string } } };
  const first = (await (await fetch(labels, { headers })).json()) as Page;
  const second = (await (await fetch(first.paging.next, { headers })).json()) as Page;
  expect((await fetch(`${labels}&after=${second.paging.cursors.after}`, { headers })).status).toBe(200);
  recording.kill("SIGINT");
  expect(await recording.exited).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8")).log.entries).toHaveLength(5);

  const [one, other] = [await startPlaza(["--data", ":memory:"]), await startPlaza(["--data", ":memory:"])];
  const result = await runPlaza(["compare", one.ready.base_url, other.ready.base_url, "--recording", file, "--secret", "demo-page-token"]);
  expect(result).toMatchObject({ code: 0, stdout: "5 requests, 0 differences\n" });
  const { body } = await other.control("GET", "requests?limit=10");
  expect((body.data as { status: number }[]).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

/** Starts a server that runs until the test ends. */
function serve(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  afterThisTest(() => server.stop(true));
  return server.url.href;
}

/** A recording of one request. */
function har(url: string, _secrets?: object[]): string {
  const file = join(newFolder(), "one.har");
  const entry = { request: { method: "GET", url, headers: [] }, response: { status: 200, headers: [], content: {} }, _secrets };
  writeFileSync(file, JSON.stringify({ log: { entries: [entry] } }));
  return file;
}

/** Starts a server that records the bodies of its requests, and responds to each key with the server's name. */
const echoServer = (name: string, seen: string[], keys: readonly string[] = ["name"]): string =>
  serve(async (request) => {
    seen.push(`${name} ${request.method} ${new URL(request.url).pathname} ${await request.text()}`);
    return Response.json(Object.fromEntries(keys.map((key) => [key, name])));
  });

test("the requests of a browser's HAR file to the named server are sent, even those whose form was split into parameters", async () => {
  const file = join(newFolder(), "browser.har");
  const entry = (url: string, postData?: object) => ({
    request: { method: postData === undefined ? "GET" : "POST", url, headers: [], ...(postData === undefined ? {} : { postData }) },
    response: { status: 200, headers: [], content: {} },
  });
  const params = [{ name: "page_label_name", value: "a&b" }, { name: "empty" }];
  const entries = [
    entry("https://shop.example/app.js"),
    entry("https://graph.example:40001/v26.0/1"),
    entry("https://graph.example:4000/v26.0/2001/custom_labels", { mimeType: "application/x-www-form-urlencoded", params }),
  ];
  writeFileSync(file, JSON.stringify({ log: { entries } }));
  const seen: string[] = [];
  const servers = [echoServer("one", seen), echoServer("two", seen)];
  const { stdout } = await runPlaza(["compare", ...servers, "--recording", file, "--recorded-url", "https://graph.example:4000", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ requests: 1, differences: [{ path: "body.name", first: '"one"', second: '"two"' }] });
  expect(seen.sort()).toEqual(["one", "two"].map((name) => `${name} POST /v26.0/2001/custom_labels page_label_name=a%26b&empty=`));
});

test.each([20, 23])("20 of %i differences of an operation are printed, and the number of the others if there are any", async (count) => {
  const keys = Array.from({ length: count }, (_, i) => `key${i}`);
  const servers = ["one", "two"].map((name) => echoServer(name, [], keys));
  const { stdout } = await runPlaza(["compare", ...servers, "--recording", har("https://graph.example/x")]);
  expect(stdout.match(/^ {4}body\.key/gm)).toHaveLength(20);
  expect(stdout.match(/^ {2}and .*$/gm)).toEqual(count === 23 ? ["  and 3 more"] : null);
});

test("a file that an app uploads is recorded byte for byte, and no secret beside it", async () => {
  const bytes = new Uint8Array([0xff, 0x00, 0x0d, 0x0a, 0x80]);
  let arrived = new Uint8Array();
  const upstream = serve(async (request) => {
    const form = await request.formData();
    arrived = new Uint8Array(await (form.get("file") as File).arrayBuffer());
    return Response.json({ token: form.get("access_token") });
  });
  const file = join(newFolder(), "upload.har");
  const { recording, address } = await startRecording(upstream, file);
  const form = new FormData();
  form.set("access_token", "s3cret-token");
  form.set("batch", JSON.stringify([{ relative_url: "me?access_token=s3cret-token" }]));
  form.set("file", new Blob([bytes]));
  await fetch(`${address}/v26.0/8101/uploads`, { method: "POST", body: form });
  expect([...arrived]).toEqual([...bytes]);
  recording.kill("SIGINT");
  expect(await recording.exited).toBe(0);
  const text = readFileSync(file, "utf8");
  const { postData } = JSON.parse(text).log.entries[0].request;
  expect(postData._encoding).toBe("base64");
  const recorded = Buffer.from(postData.text, "base64");
  expect([text, recorded.toString("latin1")].join()).not.toContain("s3cret-token");

  // When the recording is sent again with the given secret, the server receives the same file.
  arrived = new Uint8Array();
  const options = ["compare", upstream, upstream, "--recording", file, "--secret", "given", "--json"];
  expect(JSON.parse((await runPlaza(options)).stdout)).toEqual({ requests: 1, differences: [], other_statuses: [] });
  expect([...arrived]).toEqual([...bytes]);
});

/** Compares two servers with the cases of areas. `second` is the address of the second server, by default the base URL of `other`. */
function compareCases(one: RunningPlaza, other: RunningPlaza, areas: readonly string[], second = other.ready.base_url) {
  const control = ({ ready: { control_url, control_key } }: RunningPlaza, prefix: string) => [
    ...[`--${prefix}control-url`, control_url, `--${prefix}control-key`, control_key as string],
  ];
  const options = [...areas.flatMap((area) => ["--area", area]), ...control(one, ""), ...control(other, "second-")];
  return runPlaza(["compare", one.ready.base_url, second, "--conformance", ...options]);
}

test("compare runs the conformance cases against two servers", async () => {
  const [one, other] = [await startPlaza(["--data", ":memory:"]), await startPlaza(["--data", ":memory:"])];
  const { code, stdout } = await compareCases(one, other, ["personas", "general"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d{3,} requests, 0 differences\n$/) });
});

test("a request of a case is named without the address of either server", async () => {
  const one = await startPlaza(["--data", ":memory:"]);
  const { code, stdout } = await compareCases(one, one, ["versioning-basics"], echoServer("other", []));
  const named = stdout.match(/^ {2}[A-Z]+ .*$/gm) ?? [];
  expect({ code, isAny: named.length > 0 }).toEqual({ code: 1, isAny: true });
  expect(named.filter((line) => !/^ {2}[A-Z]+ \//.test(line))).toEqual([]);
});

/** The address of a control API that accepts no key. */
const closedServer = (): string => serve(() => new Response("", { status: 401 }));

describe("wrong use", () => {
  const place = (secret: string) => ({ in: "query", name: "access_token", secret });
  const nobody = "http://127.0.0.1:1";

  test.each<[() => string[], string]>([
    [() => ["compare", nobody, nobody], "--recording: give either --recording FILE or --conformance"],
    [() => ["compare", "here", nobody, "--conformance"], 'first: "here" is not an http address'],
    [() => ["compare", nobody, nobody, "--recording", "missing.har"], "missing.har cannot be read"],
    [() => ["compare", nobody, nobody, "--recording", har(`${nobody}/x`)], "first: http://127.0.0.1:1 does not respond: "],
    [() => ["compare", closedServer(), nobody, "--recording", har(`${nobody}/x`)], "second: http://127.0.0.1:1 does not respond: "],
    [
      () => ["compare", nobody, nobody, "--recording", har(`${nobody}/x`), "--recorded-url", "http://other"],
      "contains no request to http://other/, only requests to http://127.0.0.1:1",
    ],
    [
      () => ["compare", nobody, nobody, "--recording", har(`${nobody}/x`, [place("secret-1"), place("secret-2")]), "--secret", "secret-1=a"],
      "--secret: the recording does not contain the values of its secrets: give secret-2=VALUE (access_token), or one VALUE for all secrets",
    ],
    [() => ["compare", nobody, nobody, "--conformance", "--profile", "lax"], '--profile: "lax" is neither strict nor clients'],
    [() => ["compare", nobody, nobody, "--conformance", "--area", "persona"], '--area: no case is of the area "persona"; the areas are '],
    [() => ["record", "--upstream", "there", "--out", "x.har"], '--upstream: "there" is not an http address'],
    [() => ["record", "--upstream", nobody, "--out", "missing/x.har"], "--out: "],
    [() => ["record", "--upstream", nobody, "--out", "x.har", "--port", "abc"], '--port: "abc" is not an integer from 0 to 65535'],
    [() => ["record", "--upstream", nobody, "--out", "x.har", "--port", new URL(closedServer()).port], "is in use by another program"],
    [() => ["record", "--upstream", "http://me:pass@127.0.0.1:1", "--out", "x.har"], "--upstream: the address contains a user or a password"],
    [() => ["conform"], "--base-url: name the server to check"],
    [() => ["conform", "--base-url", "localhost:4000"], '--base-url: "localhost:4000" is not an http address'],
    [() => ["conform", "--base-url", nobody, "--profile", "lax"], '--profile: "lax" is neither strict nor clients'],
    [() => ["conform", "--base-url", nobody], "--base-url: http://127.0.0.1:1 does not respond: "],
    [() => ["conform", "--base-url", nobody, "--area", "persona"], '--area: no case is of the area "persona"; the areas are '],
    [() => ["conform", "--base-url", nobody, "--clause", "ZZ-1"], '--clause: no case cites "ZZ-1"'],
    [() => ["conform", "--base-url", nobody, "--title", "unheard of"], '--title: no title contains "unheard of"'],
    [() => ["conform", "--base-url", nobody, "--area", "personas", "--clause", "B1-1"], "--clause: no case fulfils all of these conditions"],
    [() => ["conform", "--base-url", nobody, "--junit", "missing/x.xml"], "--junit: "],
    [() => ["conform", "--base-url", nobody, "--control-url", nobody], "--control-url: needs --control-key"],
    [() => ["conform", "--base-url", nobody, "--control-key", "k"], "--control-key: needs --control-url"],
    [() => ["conform", "--base-url", closedServer(), "--control-url", closedServer(), "--control-key", "k"], "--control-key: the control API at "],
  ])("%#: exit code 2, and a message that names it", async (args, message) => {
    const { code, stdout, stderr } = await runPlaza(args());
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
    // The error message is one line, not a stack trace.
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  test("a recording whose port another one uses does not touch that one's file", async () => {
    const file = join(newFolder(), "calls.har");
    writeFileSync(file, "kept");
    await runPlaza(["record", "--upstream", nobody, "--out", file, "--port", new URL(closedServer()).port]);
    expect(readFileSync(file, "utf8")).toBe("kept");
  });
});

test("the cases are listed without a server", async () => {
  const { code, stdout } = await runPlaza(["conform", "--list", "--area", "personas"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^personas: A7: /) });
});
