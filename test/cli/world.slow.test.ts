import { afterEach, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testOnPostgres } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, runPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const WORLD = `
apps: [{id: "1001", name: Shop, secret: s3cret}]
pages: [{id: "2001", name: "Café ☕"}]
tokens: [{token: page-token, type: page, app: "1001", page: "2001"}]
`;

function worldFile(text: string): string {
  const file = join(newFolder(), "world.yaml");
  writeFileSync(file, text);
  return file;
}

test("a world is moved from SQLite to a server on PostgreSQL and back unchanged", async () => {
  const data = newFolder();
  expect(await runPlaza(["world", "import", worldFile(WORLD), "--data", data])).toMatchObject({ code: 0, stderr: "" });
  expect((await runPlaza(["world", "export", "--data", data])).stdout).not.toContain("s3cret");
  const exported = await runPlaza(["world", "export", "--secrets", "--data", data]);
  expect(JSON.parse(exported.stdout)).toMatchObject({ apps: [{ id: "1001", secret: "s3cret" }], pages: [{ id: "2001", name: "Café ☕" }] });
  const plaza = await startPlaza(["--data", await (await sharedPostgres()).newDatabase(), "--world", worldFile("users: []")]);
  const env = { PLAZA_CONTROL_URL: plaza.ready.control_url, PLAZA_CONTROL_KEY: plaza.ready.control_key as string };
  expect(await runPlaza(["world", "import", worldFile(exported.stdout)], { env })).toMatchObject({ code: 0, stderr: "" });
  const again = JSON.parse((await runPlaza(["world", "export", "--secrets"], { env })).stdout);
  const { clock: _, ...state } = JSON.parse(exported.stdout);
  expect(again).toMatchObject(state);
  const listed = await runPlaza(["world", "list"], { env });
  expect(JSON.parse(listed.stdout)).toEqual({ name: "default", open: true, profile: "strict", empty: false });
});

test("a failure is one line on stderr, and nothing is imported", async () => {
  const data = newFolder();
  const missing = await runPlaza(["world", "import", "no-such-file.yaml", "--data", data]);
  expect(missing).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^plaza: <file>: no-such-file.yaml cannot be read: [^\n]*\n$/),
  });
  const nowhere = join(newFolder(), "data");
  for (const [file, problem] of [
    ["no-such-file.yaml", "no-such-file.yaml cannot be read"],
    ["-", "standard input is empty"],
  ] as const) {
    expect(await runPlaza(["world", "import", file, "--data", nowhere])).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
    expect(existsSync(nowhere)).toBeFalse();
  }
  const broken = worldFile(`${WORLD}labels: [{id: "5001", page: "999", name: vip}]`);
  expect(await runPlaza(["world", "import", broken, "--data", data])).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("999") });
  expect(JSON.parse((await runPlaza(["world", "list", "--data", data])).stdout)).toMatchObject({ empty: true });
  expect(await runPlaza(["world", "export", "--data", data, "--world-name", "other"])).toMatchObject({ code: 1, stdout: "" });
});

test("worlds are created, saved, restored, reset and deleted on unused data", async () => {
  const data = newFolder();
  const world = (...given: string[]) => runPlaza(["world", ...given, "--data", data]);
  const pages = async () => JSON.parse((await world("export", "--world-name", "orders")).stdout).pages;
  expect(await world("new", "orders", worldFile(WORLD))).toMatchObject({ code: 0, stderr: "" });
  expect(await world("new", "orders")).toMatchObject({ code: 1, stderr: "plaza: a world orders exists already\n" });
  expect((await world("list")).stdout).toContain('{"name":"orders","open":false}');
  await world("import", worldFile('pages: [{id: "2002", name: Bar}]'), "--world-name", "orders");
  expect(await world("snapshot", "two", "--world-name", "orders")).toMatchObject({ code: 0, stderr: "" });
  expect(await world("reset", "--world-name", "orders")).toMatchObject({ code: 0, stderr: "" });
  expect(await pages()).toMatchObject([{ id: "2001" }]);
  expect(await world("restore", "two", "--world-name", "orders")).toMatchObject({ code: 0, stderr: "" });
  expect(await pages()).toMatchObject([{ id: "2001" }, { id: "2002" }]);
  expect(await world("restore", "three", "--world-name", "orders")).toMatchObject({ code: 1, stderr: "plaza: there is no snapshot three\n" });
  expect(await world("delete", "orders")).toMatchObject({ code: 0, stderr: "" });
  expect((await world("list")).stdout).not.toContain("orders");
});

testOnPostgres("D-421: a world is created in the named database, and moved to another one with its data", async () => {
  const cluster = await sharedPostgres();
  const databases = await Promise.all(["eu1", "eu2"].map(async (name) => `${name}=${await cluster.newDatabase()}`));
  const plaza = await startPlaza(databases.flatMap((database) => ["--databases", database]));
  const env = { PLAZA_CONTROL_URL: plaza.ready.control_url, PLAZA_CONTROL_KEY: plaza.ready.control_key as string };
  const world = (...given: string[]) => runPlaza(["world", ...given], { env });
  const placeOf = async (name: string): Promise<unknown> =>
    (await world("list")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .find((one) => one.name === name)?.database;
  expect(await world("new", "orders", worldFile(WORLD), "--database", "eu1")).toMatchObject({ code: 0, stderr: "" });
  expect(await placeOf("orders")).toBe("eu1");
  expect(await world("move", "orders", "--to", "eu2")).toMatchObject({ code: 0, stderr: "" });
  expect(await placeOf("orders")).toBe("eu2");
  expect(JSON.parse((await world("export", "--world-name", "orders")).stdout)).toMatchObject({ pages: [{ id: "2001", name: "Café ☕" }] });
  expect(await world("move", "orders", "--to", "eu3")).toMatchObject({ code: 1, stdout: "", stderr: "plaza: to is not one of eu1, eu2\n" });
  expect(await world("move", "nobody", "--to", "eu2")).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("nobody") });
});
