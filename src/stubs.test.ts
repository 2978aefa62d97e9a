import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "#cli/test-server";
import { stubs } from "#config/option-readers";
import { afterThisTest } from "#harness/cleanup";
import { openPlaza, type PlazaOptions } from "#harness/plaza";
import { temporaryFolder } from "#harness/server";
import { cafe } from "#harness/worlds";
import type { Log } from "#telemetry/log";
import { features } from "./features.ts";
import { registryWith } from "./stubs.ts";

const INSIGHTS = '{"data": [{"name": "page_fans", "value": 12345678901234567890}]}';
const bearer = "page";

/** Makes a file in a new folder for each stub. Returns the registry with the stubs, the paths of the files, and the logged warnings. */
async function open(contents: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  const files = Object.entries(contents).map(([edge, text], at) => {
    const file = join(folder, `${at}.json`);
    writeFileSync(file, text);
    return [edge, file] as const;
  });
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Log;
  const registry = await registryWith(features, stubs(Object.fromEntries(files)), log);
  return { registry, warnings, file: files[0]?.[1] as string };
}

const openWith = async (contents: Readonly<Record<string, string>>, options: PlazaOptions = {}) => {
  const { registry, ...more } = await open(contents);
  return { ...more, plaza: await openPlaza({ world: cafe, registry, ...options }) };
};

for (const profile of ["strict", "clients"] as const) {
  test(`D-395: [${profile}] a file answers an edge that Plaza does not serve, with all digits, also in batches and for several ids`, async () => {
    const made = { "page/insights": INSIGHTS, "POST:page/feed": '{"id": "1_2"}', "user/photos": '{"data": []}' };
    const { plaza } = await openWith(made, { profile });
    expect(await plaza.get("/v26.0/2001/insights", { bearer })).toMatchObject({ status: 200, operation: "stub GET page/insights" });
    const text = async (path: string, body: Record<string, string>) => JSON.stringify((await plaza.post(path, { bearer, body })).body);
    expect(await text("/v26.0/2001/feed", { message: "hello" })).toBe('{"id":"1_2"}');
    expect((await plaza.get("/v26.0/me/photos", { bearer: "ada" })).body).toEqual({ data: [] });
    expect(Object.keys((await plaza.get("/v26.0/insights", { bearer: "ada", query: { ids: "2001" } })).body)).toEqual(["2001"]);
    const batch = await text("/v26.0", { batch: JSON.stringify([{ method: "GET", relative_url: "2001/insights" }]) });
    expect(batch).toContain("12345678901234567890");
    expect(plaza.world.unserved?.list()).toEqual([]);
  });
}

test("D-395: the token, the node and the version are checked as for every edge", async () => {
  const { plaza } = await openWith({ "page/insights": INSIGHTS, "label/insights": INSIGHTS, "product_catalog/x": "{}" });
  const code = async (path: string, request: object) => {
    const { body } = await plaza.get(path, request);
    return [(body.error ?? body).code, (body.error ?? body).error_subcode];
  };
  expect(await code("/v26.0/2001/insights", {})).toEqual([104, undefined]);
  expect(await code("/v26.0/2001/insights", { bearer: "wrong" })).toEqual([190, undefined]);
  expect(await code("/v26.0/2001/insights", { bearer: "expired" })).toEqual([190, 463]);
  expect(await code("/v26.0/99999/insights", { bearer })).toEqual([100, 33]);
  // A label belongs to page messaging, and the person of this test's token may not see the label.
  expect(await code("/v26.0/5001/insights", { bearer: "bar" })).toEqual([100, 33]);
  expect(await code("/v9.0/2001/insights", { bearer })).toEqual([2500, undefined]);
  expect((await plaza.post("/v26.0/2001/insights", { bearer })).body.error).toMatchObject({ code: 100, error_subcode: 33 });
});

test("D-395: a changed file is read again; as long as it cannot be used, requests get its last content, and the log has one warning", async () => {
  const { plaza, file, warnings } = await openWith({ "page/insights": '{"version": 1}' });
  const read = async () => (await plaza.get("/v26.0/2001/insights", { bearer })).body;
  expect(await read()).toEqual({ version: 1 });
  writeFileSync(file, '{"version": 22}');
  expect(await read()).toEqual({ version: 22 });
  writeFileSync(file, '{"version": ');
  expect([await read(), await read()]).toEqual([{ version: 22 }, { version: 22 }]);
  rmSync(file);
  expect([await read(), await read()]).toEqual([{ version: 22 }, { version: 22 }]);
  expect(warnings).toMatchObject([
    { stub: "GET page/insights", file, problem: `${file} is not valid JSON because it ends too early` },
    { problem: expect.stringContaining("cannot be read: ENOENT") },
  ]);
  writeFileSync(file, '{"version": 333}');
  expect(await read()).toEqual({ version: 333 });
});

test("D-395: a stub that cannot be used is refused at the start, with the reason and the place", async () => {
  const reasons = {
    "page/personas": "Plaza itself serves GET page/personas (listPersonas); leave the stub out",
    "pge/insights": /there is no node type pge; the node types are user, .*page.*; did you mean page\?/,
    "place/insights": "there is no node type place",
  };
  for (const [edge, reason] of Object.entries(reasons)) await expect(open({ [edge]: "{}" })).rejects.toThrow(reason);
  const texts = {
    '{\n  "data": [1,\n  2 3]\n}': "is not valid JSON at line 3, column 5",
    '{"data": [': "is not valid JSON because it ends too early",
    "": "is not valid JSON because it ends too early",
    "[1]": 'must be a JSON object, such as {"data": []}',
    null: "must be a JSON object",
    [`{"a":${"[".repeat(40)}${"]".repeat(40)}}`]: "nests deeper than 32 levels",
    [`{"a":"${"x".repeat(1_048_576)}"}`]: "has 1048584 bytes; at most 1048576 are possible",
  };
  for (const [text, reason] of Object.entries(texts)) await expect(open({ "page/insights": text })).rejects.toThrow(reason);
  const of = (...given: string[]) => registryWith(features, stubs(given), {} as Log);
  const missing = join(temporaryFolder(), "missing.json");
  await expect(of(`page/insights=${missing}`)).rejects.toThrow(`--stub: ${missing} cannot be read: ENOENT`);
  await expect(of(...Array.from({ length: 101 }, (_, at) => `page/e${at}=${missing}`))).rejects.toThrow("names 101 edges; at most 100 are possible");
  const file = join(temporaryFolder(), "one.json");
  writeFileSync(file, "{}");
  await expect(of(`page/insights=${file}`, `GET:page/insights=${file}`)).rejects.toThrow("--stub: has two files for GET page/insights");
});

test("D-395: a server has the stub in its list of operations and in its log of requests; only a sandbox may have one", async () => {
  const file = join(temporaryFolder(), "insights.json");
  writeFileSync(file, INSIGHTS);
  const { ready, controlKey, stop } = await startTestServer({ stub: [`page/insights=${file}`] });
  afterThisTest(stop);
  const headers = { authorization: "Bearer demo-page-token" };
  expect(await (await fetch(`${ready.base_url}/v26.0/2001/insights`, { headers })).text()).toBe(
    '{"data":[{"name":"page_fans","value":12345678901234567890}]}',
  );
  const control = async (path: string): Promise<{ data: { operation: string; summary?: string }[] }> =>
    (await fetch(`${ready.control_url}/v1/worlds/default/${path}`, { headers: { authorization: `Bearer ${controlKey}` } })).json() as never;
  expect((await control("requests")).data).toMatchObject([{ operation: "stub GET page/insights" }]);
  expect((await control("operations?node=2001")).data.find(({ operation }) => operation.startsWith("stub"))?.summary).toBe(
    `Answers from ${file}, because Plaza does not serve this edge.`,
  );
  await expect(startTestServer({ stub: [`page/insights=${file}`], sandbox: false, control_key: "sixteen-or-longer" })).rejects.toThrow(
    "--stub: is for the sandbox, because its answers are not real",
  );
});
