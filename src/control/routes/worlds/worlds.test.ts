import { describe, expect, test } from "bun:test";
import { readEvents } from "#control-contract/event-stream";
import type { ControlDeps } from "#control-contract/route";
import { exportWorld } from "#graph/worlds/file/import-export";
import type { OpenWorld } from "#graph/worlds/open-world";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { nextTurn } from "#kernel/turns";

describe("import and export", () => {
  test("an export can be imported, and restores deleted nodes", async () => {
    const { request } = await openControl();
    const before = (await request("GET", "export")).body;
    await request("DELETE", "nodes/labels/5002");
    expect(await request("POST", "import", before)).toEqual({ status: 200, body: { success: true } });
    expect((await request("GET", "nodes/labels/5002")).body.name).toBe("regular");
  });

  test("D-263: an export contains secrets only if they are requested, and an import removes none", async () => {
    const { request } = await openControl();
    const secretIn = async (query: string) => (await request("GET", `export${query}`)).body.apps[0].secret;
    const { secret } = (await request("GET", "nodes/apps/1001")).body;
    expect(await secretIn("?secrets=true")).toBe(secret);
    for (const query of ["", "?secrets=false"]) expect(await secretIn(query)).toBeUndefined();
    expect(await request("GET", "export?secrets=please")).toMatchObject({ status: 400, body: { error: { parameter: "secrets" } } });
    await request("POST", "import", (await request("GET", "export")).body);
    expect(await secretIn("?secrets=true")).toBe(secret);
  });

  test("an empty body is refused; a file without entries is a world file", async () => {
    const { request } = await openControl();
    for (const body of ["", " \n"])
      expect(await request("POST", "import", body)).toMatchObject({
        status: 400,
        body: { error: { message: "the body is empty: send a world file" } },
      });
    expect(await request("POST", "import", "{}")).toEqual({ status: 200, body: { success: true } });
  });

  test("unused scopes cause a warning, once each", async () => {
    const { request } = await openControl();
    const token = (token: string) => ({ token, type: "page", app: "1001", page: "2001", scopes: ["pages_mesaging", "pages_messaging", "email"] });
    expect(await request("POST", "import", { tokens: [token("a"), token("b")] })).toEqual({
      status: 200,
      body: {
        success: true,
        warnings: ["no operation needs the scope pages_mesaging; did you mean pages_messaging?", "no operation needs the scope email"],
      },
    });
  });

  test("YAML is accepted, too; a refused file names path and line", async () => {
    const { request } = await openControl();
    expect((await request("POST", "import", "labels:\n- {id: 77, page: 2001, name: q}")).status).toBe(200);
    const laughs = Array.from({ length: 40 }, (_, i) => `- &a${i + 1} [${`*a${i}, `.repeat(10)}]`).join("\n");
    expect(await request("POST", "import", `pages:\n- &a0 {id: 1}\n${laughs}`)).toMatchObject({
      status: 422,
      body: { error: { code: "unprocessable", message: "*a0 is an alias, which is not supported: write the repeated value out (line 3)" } },
    });
    expect(await request("POST", "import", "labels:\n- {id: 78, page: 3, name: q}")).toMatchObject({
      status: 422,
      body: { error: { parameter: "labels[0].page", message: "labels[0].page refers to 3, which does not exist (line 2)" } },
    });
  });
});

describe("a new world's file", () => {
  async function creating() {
    const { plaza } = await openControl({ world: {} });
    const worlds = {
      default: plaza.world,
      open: () => [plaza.world].values(),
      hold: async () => ({ world: plaza.world, leave: () => {}, onReplaced: () => () => {} }),
      make: async (_name: string, fill?: (world: OpenWorld) => Promise<void>) => {
        await fill?.(plaza.world);
        return true;
      },
    } as unknown as ControlDeps["worlds"];
    const { app } = await openControl({}, { worlds });
    const create = async (body: string) => {
      const response = await app.request("/v1/worlds", { method: "POST", headers: { authorization: `Bearer ${KEY}` }, body });
      return { status: response.status, body: (await response.json()) as { error: object } };
    };
    return { create, nodes: async () => (await exportWorld(plaza.world, plaza.registry)) as { labels?: { name: string }[] } };
  }
  const labels = Array.from({ length: 20_000 }, (_, at) => ({ id: String(500_000 + at), page: "2999", name: `é𐀀 "${at}"`, users: [] }));
  const file = { pages: [{ id: "2999" }], labels };

  test.each([
    ["an object", JSON.stringify({ name: "new", file })],
    ["an object over many lines", JSON.stringify({ file, name: "new" }, undefined, 2)],
    ["text in JSON", JSON.stringify({ name: "new", file: JSON.stringify(file) })],
    [
      "text in YAML, with escapes",
      `{"file":"${"pages:\\n- {id: \\u00222999\\u0022}\\nlabels:\\n"}${labels.map(({ id, name }) => `- {id: ${id}, page: 2999, name: ${JSON.stringify(JSON.stringify(name)).slice(1, -1)}}\\n`).join("")}","name":"new"}`,
    ],
  ])("is loaded from %s", async (_, body) => {
    const { create, nodes } = await creating();
    expect(await create(body)).toEqual({ status: 201, body: { name: "new" } } as never);
    expect((await nodes()).labels?.map(({ name }) => name)).toEqual(labels.map(({ name }) => name));
  });

  test("is refused with the place of its problem, in the file's own lines", async () => {
    const { create } = await creating();
    const lost = { ...file, labels: [...labels, { id: "1", page: "3", name: "lost" }] };
    for (const sent of [lost, JSON.stringify(lost)])
      expect(await create(JSON.stringify({ name: "new", file: sent }))).toMatchObject({
        status: 422,
        body: { error: { parameter: "labels[20000].page" } },
      });
    expect(await create('{"name":"new",\n"file":{"pages":\n[{"name":7}]}}')).toMatchObject({
      ...{ status: 422, body: { error: { parameter: "pages[0].name", message: expect.stringContaining("(line 2)") } } },
    });
  });

  test("does not make a wrong body right", async () => {
    const { create } = await creating();
    const refused = async (body: string) => {
      const { status, body: sent } = await create(body);
      return { status, ...sent.error };
    };
    for (const body of ["", "{", '{"name":"new"} 1', '{"name":"new",}', '["new"]', '{"name":"new","file":{"pages":[}}'])
      expect(await refused(body)).toMatchObject({
        status: expect.any(Number),
        message: expect.stringMatching(/not valid JSON|must be a map|is invalid/),
      });
    expect(await refused('{"name":"new","file":7}')).toMatchObject({ status: 400, parameter: "file" });
    expect(await refused('{"name":"new","file":"pages: []","more":1}')).toMatchObject({ status: 400, parameter: "more" });
    expect(await refused(`{"name":"${"n".repeat(2_097_152)}"}`)).toMatchObject({ status: 413, parameter: "name" });
    expect(await refused(`{"name":[${"1,".repeat(200_000)}1]}`)).toMatchObject({ status: 400, message: "the body has more than 150000 values" });
    expect(await refused(`{${Array.from({ length: 101 }, (_, at) => `"f${at}":1`).join(",")}}`)).toMatchObject({
      ...{ status: 400, message: "the body has more than 100 members" },
    });
  });
});

test("an export of many entries is JSON with a line for each thousand", async () => {
  const { app, request } = await openControl();
  const labels = Array.from({ length: 2_500 }, (_, at) => ({ id: String(500_000 + at), page: "2001", name: `label ${at}` }));
  await request("POST", "import", { labels });
  const response = await app.request("/v1/worlds/default/export", { headers: { authorization: `Bearer ${KEY}` } });
  const text = await response.text();
  expect(response.headers.get("content-type")).toBe("application/json");
  expect((JSON.parse(text) as { labels: unknown[] }).labels).toHaveLength(2_503);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(100_000);
});

onEachDatabase("a long import", (database) => {
  const labels = Array.from({ length: 3_500 }, (_, at) => ({ id: String(500_000 + at), page: "2001", name: `label ${at}` }));

  test("reports its progress and its result", async () => {
    const { app, request } = await openControl({ database });
    const eventsOf = async (file: unknown) => {
      const headers = { authorization: `Bearer ${KEY}`, accept: "text/event-stream" };
      return Array.fromAsync(readEvents(await app.request("/v1/worlds/default/import", { method: "POST", headers, body: JSON.stringify(file) })));
    };
    const progress = [1_000, 2_000, 3_000].map((done) => ({ event: "progress", value: { done, total: 3_501 } }));
    const lost = { id: "9999999", page: "3", name: "lost" };
    const refused = await eventsOf({ labels: [...labels, lost] });
    expect(refused.slice(0, 3)).toEqual(progress);
    expect(refused.at(-1)).toEqual({
      event: "error",
      value: { error: { code: "unprocessable", message: expect.any(String), parameter: "labels[3500].page" } },
    });
    expect((await request("GET", "export")).body.labels).toHaveLength(3);
    expect(await eventsOf({ labels: [...labels, { ...lost, page: "2001" }] })).toEqual([...progress, { event: "result", value: { success: true } }]);
    expect((await request("GET", "export")).body.labels).toHaveLength(3 + 3_501);
  });

  test("lets other requests run, which see nothing of it before its commit", async () => {
    const { request } = await openControl({ database });
    let isOver = false;
    const importing = request("POST", "import", { labels }).finally(() => {
      isOver = true;
    });
    const look = async () => (await request("GET", "nodes/labels/500000")).status;
    const seen: number[] = [];
    while (!isOver) {
      seen.push(await look());
      await nextTurn();
    }
    expect((await importing).status).toBe(200);
    // The last entry of the imported file can be read only after the import's transaction was committed.
    expect(seen[0]).toBe(404);
    expect(seen.slice(0, seen.lastIndexOf(404))).not.toContain(200);
    expect(await look()).toBe(200);
  });
});
