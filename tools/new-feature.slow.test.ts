import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFeature, renamedFor, withNode } from "./new-feature.ts";

const ROOT = new URL("..", import.meta.url).pathname;

test("the template's noun is replaced in every spelling", () => {
  const text = "gift-cards gift-card giftCards GiftCard gift_cards GIFT_CARD gift cards Gift card";
  expect(renamedFor(text, "book-entries", "book-entry")).toBe(
    "book-entries book-entry bookEntries BookEntry book_entries BOOK_ENTRY book entries Book entry",
  );
});

test("the nodes of two new features have different ids", () => {
  const source =
    'export const fullWorld = {\n  tokens: [\n  ],\n};\nexport const nodeOfType: Readonly<Record<string, string>> = {\n  app: "1001",\n};\n';
  const both = withNode(withNode(source, "teas", "tea"), "cups", "cup");
  expect(both).toContain(
    '  teas: [{ id: "9901", page: "2001", name: "First" }],\n  cups: [{ id: "9902", page: "2001", name: "First" }],\n  tokens: [\n',
  );
  expect(both).toContain('  app: "1001",\n  tea: "9901",\n  cup: "9902",\n};\n');
});

test("a new feature compiles, and its tests and those of every operation pass on both databases", () => {
  const copy = mkdtempSync(join(tmpdir(), "plaza-feature-"));
  try {
    for (const path of ["src", "test/harness", "test/properties", "tools/test-runs", "tools/steps.ts", "worlds", "package.json", "tsconfig.json"])
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    makeFeature(copy, "tea-shops", "tea-shop");
    // order: a folder has no order.
    expect(readdirSync(join(copy, "src/features/tea-shops")).sort()).toEqual(
      ["README.md", "index.ts", ...["contract", "handlers", "store", "test", "world"].map((piece) => `tea-shops.${piece}.ts`)].sort(),
    );
    const run = (...command: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: copy, stdin: "ignore" });
      return { exitCode, output: `${stdout}${stderr}` };
    };
    const types = run("node", "node_modules/typescript-native/bin/tsc", "--noEmit", "-p", ".");
    expect(types.output.split("\n").filter((line) => line.includes("tea-shops"))).toEqual([]);
    const tests = run(process.execPath, "test", "--timeout", "60000", "./src/features/tea-shops");
    expect(tests.output).toContain("8 pass");
    expect(tests.exitCode).toBe(0);
    const ofAll = run(process.execPath, "test", "--timeout", "60000", "./test/properties/matrix.test.ts", "-t", "sqlite");
    expect(ofAll.output).toContain(" 0 fail");
    expect(ofAll.exitCode).toBe(0);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
