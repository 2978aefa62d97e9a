import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { features } from "#features";

test("a feature needs the ports of other features that its code asks for, and no others", () => {
  const declared: Record<string, readonly string[]> = {};
  const asked: Record<string, readonly string[]> = {};
  for (const { name, needs = [], ports } of features) {
    const own = [...readFileSync(`${import.meta.dir}/features/${name}/index.ts`, "utf8").matchAll(/^ {4}(\w+): \{/gm)].map(([, port]) => port);
    const files = [...new Bun.Glob(`features/${name}/**/*.ts`).scanSync(import.meta.dir)].filter((path) => !path.endsWith(".test.ts"));
    const code = files.map((path) => readFileSync(`${import.meta.dir}/${path}`, "utf8")).join("\n");
    const used = [...code.matchAll(/\bports\s*\.get\("(\w+)"\)/g)].map(([, port = ""]) => port);
    declared[name] = needs.toSorted();
    asked[name] = [...new Set(used)].filter((port) => ports === undefined || !own.includes(port)).sort();
  }
  expect(declared).toEqual(asked);
});
