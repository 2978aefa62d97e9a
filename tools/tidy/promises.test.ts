/**
 * Checks that no promise floats (STYLE.md, 15): a promise that nobody awaits fails unseen, or ends after its transaction. Biome's rule finds
 * promises that nobody awaits, because Biome knows the types of expressions.
 */
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../steps.ts";

const RULE = "nursery/noFloatingPromises";

function lint(folder: string, ...paths: readonly string[]): { readonly exitCode: number; readonly found: readonly string[] } {
  const biome = join(ROOT, "node_modules/.bin/biome");
  const { stdout, exitCode } = Bun.spawnSync([biome, "lint", `--only=${RULE}`, "--reporter=github", "--max-diagnostics=none", ...paths], {
    cwd: folder,
  });
  const errors = stdout.toString().matchAll(/^::error .*?file=(?<file>[^,]+),line=(?<line>\d+)/gm);
  return { exitCode, found: [...errors].map(({ groups }) => `${groups?.file?.split("/").at(-1)}:${groups?.line}`) };
}

test("a floating one is found: of a function, a method, several at once", () => {
  const root = mkdtempSync(join(tmpdir(), "plaza-promises-"));
  try {
    mkdirSync(join(root, "src"));
    for (const name of ["biome.json", ".gitignore"]) copyFileSync(join(ROOT, name), join(root, name));
    writeFileSync(
      join(root, "src/writes.ts"),
      `import { type Transaction, save } from "./store.ts";
export async function write(tx: Transaction): Promise<void> {
  await save(tx);
  void save(tx);
  save(tx);
  tx.run("x");
  Promise.all([save(tx)]);
}
`,
    );
    writeFileSync(
      join(root, "src/store.ts"),
      `export interface Transaction { run(text: string): Promise<number> }
export async function save(tx: Transaction): Promise<void> {
  await tx.run("x");
}
`,
    );
    expect(lint(root, "src")).toEqual({ exitCode: 1, found: ["writes.ts:5", "writes.ts:6", "writes.ts:7"] });
  } finally {
    rmSync(root, { recursive: true });
  }
}, 300_000);
