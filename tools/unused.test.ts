/**
 * Checks that the settings of `knip.jsonc` find unused code, in a small made-up server with one unused file, export, type
 * and package each.
 */
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { BUN, ROOT } from "./steps.ts";

const deps: Readonly<Record<string, string>> = {
  "src/cli/plaza.ts": 'import { used } from "#kernel/words";\nused();\n',
  "src/kernel/words.ts": "export const used = () => {};\nexport const unused = 1;\nexport type Unused = string;\n",
  "src/kernel/words.test.ts": 'import { ofTests } from "./of-tests.ts";\nofTests();\n',
  "src/kernel/of-tests.ts": "export const ofTests = () => {};\n",
  "src/kernel/nobody.ts": "export const nobody = 1;\n",
};

interface Report {
  readonly issues: readonly Readonly<Record<"files" | "exports" | "types" | "dependencies", readonly { name: string }[]>>[];
}

test("an unused file, export, type and package are found, and one that a test uses is not", () => {
  const root = mkdtempSync(join(tmpdir(), "plaza-unused-"));
  try {
    for (const [path, text] of Object.entries(deps)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    for (const name of ["knip.jsonc", "package.json", "tsconfig.json"]) copyFileSync(join(ROOT, name), join(root, name));
    const knip = join(ROOT, "node_modules/knip/bin/knip.js");
    const { stdout, exitCode } = Bun.spawnSync([BUN, knip, "--no-progress", "--reporter", "json"], { cwd: root });
    expect(exitCode).toBe(1);
    const { issues } = JSON.parse(stdout.toString()) as Report;
    const namesOf = (kind: keyof Report["issues"][number]) => issues.flatMap((issue) => issue[kind].map(({ name }) => name));
    expect({ files: namesOf("files"), exports: namesOf("exports"), types: namesOf("types") }).toEqual({
      files: ["src/kernel/nobody.ts"],
      exports: ["unused"],
      types: ["Unused"],
    });
    expect(namesOf("dependencies")).toContain("hono");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
