import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { differences, documentsAt } from "./contract.ts";

const operation = (limit_max: number) => ({
  parameters: [
    { name: "fields", in: "query", schema: { type: "string" } },
    { name: "limit", in: "query", schema: { type: "integer", maximum: limit_max } },
  ],
});

describe("differences", () => {
  test("new and removed operations and schemas have a line each", () => {
    const before = { paths: { "/a": { get: operation(1), post: operation(1) } }, components: { schemas: { Old: { type: "string" } } } };
    const after = { paths: { "/a": { get: operation(1) }, "/b": { get: operation(1) } }, components: { schemas: { New: { type: "string" } } } };
    expect(differences(before, after)).toEqual(["+ GET /b", "- POST /a", "+ components schemas New", "- components schemas Old"]);
  });

  test("a change of an operation is named by its place, in any order of parameters", () => {
    const after = { parameters: [...operation(2).parameters].reverse().concat({ name: "after", in: "query", schema: { type: "string" } }) };
    expect(differences({ paths: { "/a": { get: operation(1) } } }, { paths: { "/a": { get: after } } })).toEqual([
      "~ GET /a",
      "    ~ parameters.query limit.schema.maximum: 1 → 2",
      '    + parameters.query after.name: "after"',
      '    + parameters.query after.in: "query"',
      '    + parameters.query after.schema.type: "string"',
    ]);
  });

  test("keys of a JSON Schema and of a list of words are separate parts", () => {
    const before = { properties: { port: { enum: ["a", "b"] } }, required: ["port"] };
    const after = { properties: { port: { enum: ["b"] }, host: { type: "string" } }, required: [] };
    expect(differences(before, after)).toEqual([
      "+ properties host",
      "~ properties port",
      '    - enum.a: "a"',
      "~ required",
      '    - port: "port"',
      "    + : []",
    ]);
  });

  test("a part that changed completely is cut short", () => {
    const words = (of: string) => ({ properties: { word: { enum: Array.from({ length: 10 }, (_, at) => of + at) } } });
    const lines = differences(words("a"), words("b"));
    expect({ count: lines.length, last: lines.at(-1) }).toEqual({ count: 14, last: "    … and 8 more" });
  });

  test("equal documents have no differences", () => expect(differences(operation(1), operation(1))).toEqual([]));
});

test("documents of a commit are made by its own sources, or are in it", () => {
  const root = temporaryFolder();
  const git = (...args: string[]): string => {
    const { success, stdout, stderr } = Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@a", ...args], { cwd: root });
    expect({ args, success, stderr: success ? "" : stderr.toString() }).toEqual({ args, success: true, stderr: "" });
    return stdout.toString().trim();
  };
  const commit = (): string => {
    git("add", "--all");
    git("commit", "--quiet", "--message", "a: b");
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet");
  writeFileSync(join(root, "a.json"), `{ "held": true }`);
  const holding = commit();
  const generator = join(root, "tools/write-docs/generated.ts");
  mkdirSync(dirname(generator), { recursive: true });
  writeFileSync(generator, `await Bun.write("a.json", '{ "made": true }');`);
  const making = commit();
  expect(documentsAt(root, holding, ["a.json", "b.json"])).toEqual({ "a.json": { held: true }, "b.json": {} });
  expect(documentsAt(root, making, ["a.json"])).toEqual({ "a.json": { made: true } });
});
