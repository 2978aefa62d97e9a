/** Checks which servers `plaza compare` accepts, the names of requests, and the exit code. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { controlStub } from "#harness/cli/control-stub";
import { printedBy, written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { buildRegistry } from "#main";
import { compare } from "./compare.ts";
import { operationForm } from "./operations.ts";
import { expectServer, givenServer, httpAddress } from "./servers.ts";

describe("a request", () => {
  const registry = buildRegistry();
  test.each<[request: string, address: string, name: string | undefined]>([
    ["GET /v26.0/2001/custom_labels?limit=1", "GET /{id}/custom_labels", "listLabels"],
    ["GET /2001/custom_labels", "GET /{id}/custom_labels", "listLabels"],
    ["POST /v26.0/me/custom_labels", "POST /{id}/custom_labels", "createLabel"],
    ["GET /v26.0/5001", "GET /{id}", "readLabel"],
    ["PUT /v26.0/2001/custom_labels", "PUT /{id}/custom_labels", undefined],
    ["GET /v26.0/custom_labels", "GET /custom_labels", undefined],
    ["GET /app/v26.0/2001/custom_labels/", "GET /{id}/custom_labels", "listLabels"],
    ["GET /application/custom_labels", "GET /application/custom_labels", undefined],
    ["GET /app", "GET /", undefined],
    ["GET /2001x/custom_labels", "GET /2001x/custom_labels", undefined],
  ])("%s belongs to %s", (request, address, name) => {
    const [method = "", target = ""] = request.split(" ");
    const form = operationForm(registry, method, target);
    expect({ address: form.address, isNamed: name === undefined ? form.names.length > 0 : form.names.includes(name) }).toEqual({
      address,
      isNamed: name !== undefined,
    });
  });
});

describe("a server", () => {
  const message = (make: () => unknown): string => {
    try {
      make();
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  test("has an http address without a user", () => {
    for (const address of ["http://a", "https://a:1/b"]) expect(httpAddress("first", address).href).toStartWith(address);
    for (const address of ["a:1", "ftp://a", "http://", " http://a", undefined])
      expect(message(() => httpAddress("first", address))).toBe(`first: "${address}" is not an http address`);
    for (const address of ["http://u@a", "http://:p@a", "http://u:p@a"])
      expect(message(() => httpAddress("first", address))).toStartWith("first: the address contains a user or a password");
  });

  test("takes the given key with its control API, otherwise the variable's, and ignores one without the other", () => {
    const base = new URL("http://a/");
    variables({ PLAZA_CONTROL_KEY: undefined });
    expect(givenServer(base, undefined, undefined)).toEqual({ baseUrl: "http://a/" });
    expect(message(() => givenServer(base, undefined, "k", "second-"))).toBe("--second-control-key: needs --second-control-url");
    expect(message(() => givenServer(base, "http://c", undefined))).toBe("--control-url: needs --control-key, which plaza start prints");
    expect(message(() => givenServer(base, "c", "k", "second-"))).toBe('--second-control-url: "c" is not an http address');
    variables({ PLAZA_CONTROL_KEY: "of the variable" });
    expect(givenServer(base, "http://c", undefined)).toEqual({ baseUrl: "http://a/", controlUrl: "http://c/", controlKey: "of the variable" });
    expect(givenServer(base, "http://c", "k").controlKey).toBe("k");
    // If only the environment variable with the control key is set, the command does not use the control API.
    expect(givenServer(base, undefined, undefined)).toEqual({ baseUrl: "http://a/" });
  });

  test("listens, and has a control API that accepts the key", async () => {
    const problemOf = (status: number) => {
      const { url } = controlStub(() => new Response("{}", { status }));
      return expectServer({ baseUrl: url, controlUrl: url, controlKey: "k" }, "first", "second-").then(
        () => "",
        (error: Error) => error.message.replace(url, "URL"),
      );
    };
    expect(await problemOf(200)).toBe("");
    for (const status of [401, 403]) expect(await problemOf(status)).toBe("--second-control-key: the control API at URL refuses the key");
    for (const status of [404, 500])
      expect(await problemOf(status)).toBe(`--second-control-url: URL is not a control API: GET /v1/worlds returned ${status}`);
    const { url, asked, headers } = controlStub(() => ({ data: [] }));
    await expectServer({ baseUrl: url, controlUrl: `${url}/v1`, controlKey: "k" }, "first");
    expect(asked).toEqual([{ method: "GET", path: "/v1/worlds" }]);
    expect(headers[0]?.get("authorization")).toBe("Bearer k");
    await expectServer({ baseUrl: url }, "first");
    expect(asked).toHaveLength(1);
    const away = "http://127.0.0.1:1";
    await expect(expectServer({ baseUrl: away }, "first")).rejects.toThrow(/^first: http:\/\/127\.0\.0\.1:1 does not respond: /);
    await expect(expectServer({ baseUrl: url, controlUrl: away, controlKey: "k" }, "first")).rejects.toThrow(/^--control-url: .* does not respond: /);
  });
});

describe("a comparison", () => {
  /** A server that responds with its name, and records its requests. */
  function server(name: string) {
    const asked: string[] = [];
    const running = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        asked.push(`${request.method} ${pathname}${search} ${request.headers.get("authorization")} ${await request.text()}`);
        return Response.json(pathname.endsWith("/same") ? {} : { name });
      },
    });
    afterThisTest(() => running.stop(true));
    return { url: `http://127.0.0.1:${running.port}`, asked };
  }

  function recording(paths: readonly string[], secrets?: readonly object[]): string {
    const file = join(temporaryFolder(), "calls.har");
    const entries = paths.map((path) => ({
      request: { method: "GET", url: `http://recorded${path}`, headers: [{ name: "Host", value: "recorded" }] },
      response: { status: 200, headers: [], content: { text: "{}" } },
      ...(secrets === undefined ? {} : { _secrets: secrets }),
    }));
    writeFileSync(file, JSON.stringify({ log: { entries } }));
    return file;
  }

  const run = async (one: { url: string }, other: { url: string }, given: Readonly<Record<string, unknown>>) => {
    const streams = written();
    const code = await compare(one.url, other.url, given);
    return { code, ...streams };
  };

  test("exits with 0 if nothing differs, and with 1 if something does", async () => {
    const [one, other] = [server("one"), server("other")];
    expect(await run(one, other, { recording: recording(["/same", "/same"]) })).toEqual({ code: 0, out: "2 requests, 0 differences\n", err: "" });
    const { code, out } = await run(one, other, { recording: recording(["/v26.0/2001/personas", "/same"]) });
    expect({ code, out }).toEqual({
      code: 1,
      out: `listPersonas (GET /{id}/personas): 1
  GET /v26.0/2001/personas
    body.name
      first:  "one"
      second: "other"
2 requests, 1 differences
`,
    });
    const rules = join(temporaryFolder(), "rules.yaml");
    writeFileSync(rules, "- {path: body.name, may_differ: value}\n");
    expect((await run(one, other, { recording: recording(["/v26.0/2001/personas"]), rules })).code).toBe(0);
    expect((await run(one, other, { recording: recording(["/same"]), rules: `${rules}.none` })).err).toStartWith("plaza: --rules: ");
    const json = await run(one, other, { recording: recording(["/x"]), json: true });
    expect(printedBy("compare", json.out)).toMatchObject({ requests: 1, differences: [{ request: "GET /x", path: "body.name" }] });
  });

  test("sends each server its own secrets, one for all or by their names", async () => {
    const [one, other] = [server("one"), server("other")];
    const places = [{ in: "query", name: "access_token", secret: "secret-1" }];
    const file = recording(["/same?access_token=…"], places);
    const asked = async (given: object) => {
      one.asked.length = 0;
      other.asked.length = 0;
      const { code, err } = await run(one, other, { recording: file, ...given });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return [one, other].map((side) => /access_token=([^ ]*)/.exec(side.asked.join())?.[1]);
    };
    expect(await asked({ secret: ["all"] })).toEqual(["all", "all"]);
    expect(await asked({ secret: ["secret-1=named"] })).toEqual(["named", "named"]);
    expect(await asked({ secret: ["all", "secret-1=named"] })).toEqual(["named", "named"]);
    expect(await asked({ secret: ["all"], second_secret: ["secret-1=second"] })).toEqual(["all", "second"]);
    expect(await asked({ secret: ["secret-1=a=b"] })).toEqual(["a%3Db", "a%3Db"]);
    const missing = "the recording does not contain the values of its secrets: give secret-1=VALUE (access_token), or one VALUE for all secrets\n";
    expect((await run(one, other, { recording: file })).err).toBe(`plaza: --secret: ${missing}`);
    expect(await run(one, other, { recording: file, second_secret: ["all"] })).toEqual({ code: 2, out: "", err: `plaza: --secret: ${missing}` });
  });

  test("needs either a recording or the cases", async () => {
    const nobody = { url: "http://127.0.0.1:1" };
    for (const given of [{}, { recording: "x", conformance: true }])
      expect(await run(nobody, nobody, given)).toMatchObject({
        code: 2,
        err: expect.stringContaining("give either --recording FILE or --conformance"),
      });
  });
});

test("a comparison with a recording sends each body byte for byte, and names the requests whose status differs from the recorded one", async () => {
  const bodies: Buffer[] = [];
  const serve = () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        bodies.push(Buffer.from(await request.arrayBuffer()));
        return Response.json({ id: "5" }, { status: request.url.includes("/live_videos") ? 400 : 200 });
      },
    });
    afterThisTest(() => server.stop(true));
    return `http://127.0.0.1:${server.port}`;
  };
  const [first, second] = [serve(), serve()];
  const sent = (path: string, text: string, status: number | undefined) => ({
    request: {
      ...{
        method: "POST",
        url: `http://recorded/v26.0/2001/${path}?access_token=s`,
        headers: [{ name: "Content-Type", value: "application/octet-stream" }],
      },
      postData: { text, encoding: "base64" },
    },
    response: { status },
  });
  const recording = join(temporaryFolder(), "recorded.har");
  const bytes = Buffer.from([0, 255, 13, 10, 200]);
  const entries = [sent("live_videos", bytes.toString("base64"), 200), sent("personas", "eyJ9", 200), sent("live_videos", "", undefined)];
  writeFileSync(recording, JSON.stringify({ log: { entries } }));
  const streams = written();
  expect(await compare(first, second, { recording })).toBe(0);
  expect(streams.out).toBe(
    "other statuses than in the recording: 1\n  POST /v26.0/2001/live_videos?access_token=…: 200, now 400 and 400\n3 requests, 0 differences\n",
  );
  expect(bodies.slice(0, 2)).toEqual([bytes, bytes]);
  streams.out = "";
  expect(await compare(first, second, { recording, json: true })).toBe(0);
  expect(printedBy("compare", streams.out)).toMatchObject({
    requests: 3,
    other_statuses: [{ request: "POST /v26.0/2001/live_videos?access_token=…", recorded: 200, first: 400, second: 400 }],
  });
});
