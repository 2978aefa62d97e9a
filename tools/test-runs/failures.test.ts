import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { failuresOf } from "./failures.ts";

test("each failed test is found once, with its file and its own output", () => {
  const output = `bun test v1.4.5

src/a.test.ts:
(pass) one [1.00ms]
printed by two
12 |   expect(1).toBe(2);
error: expect(received).toBe(expected)
(fail) group > two (sqlite) [0.14ms]
(pass) three
(fail) four [38007.66ms]
  ^ this test timed out after 30000ms.

test/b.test.ts:
\u001b[31merror: in colour\u001b[0m
\u001b[31m(fail)\u001b[0m five [2.01s]

3 tests failed:
(fail) group > two (sqlite) [0.14ms]
(fail) four [38007.66ms]
  ^ this test timed out after 30000ms.
(fail) five [2.01s]

 2 pass
 3 fail
`;
  expect(failuresOf(output)).toEqual([
    { test: "src/a.test.ts group > two (sqlite)", output: "printed by two\n12 |   expect(1).toBe(2);\nerror: expect(received).toBe(expected)" },
    { test: "src/a.test.ts four", output: "^ this test timed out after 30000ms." },
    { test: "test/b.test.ts five", output: "error: in colour" },
  ]);
});

test("an error between tests is found", () => {
  const output = "\nsrc/a.test.ts:\n\n# Unhandled error between tests\nerror: no module\n\nsrc/b.test.ts:\n(pass) one\n 1 pass\n 1 error\n";
  expect(failuresOf(output)).toEqual([{ test: "src/a.test.ts (between tests)", output: "# Unhandled error between tests\nerror: no module" }]);
});

test("a test that ended together with such an error is named", () => {
  const output = "\nsrc/a.test.ts:\n# Unhandled error between tests\nerror: gone\n(fail) one [9.00ms]\n  ^ this test timed out after 9ms.\n 1 fail\n";
  expect(failuresOf(output)).toEqual([
    { test: "src/a.test.ts one", output: "# Unhandled error between tests\nerror: gone\n^ this test timed out after 9ms." },
  ]);
});

test("a run without failures has none", () => {
  expect(failuresOf("src/a.test.ts:\n(pass) one\n(skip) two\n 1 pass\n 0 fail\n")).toEqual([]);
});

test("Bun's own output for a failed test is read", () => {
  const folder = temporaryFolder();
  const file = "made.test.ts";
  writeFileSync(
    join(folder, file),
    `import { expect, test } from "bun:test";
     test("well", () => {});
     test("wrong", () => { console.log("seen"); expect("left").toBe("right"); });
     test("slow", () => new Promise(() => {}), 20);`,
  );
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "test", `./${file}`], { cwd: folder, env: { ...process.env, NO_COLOR: "1" } });
  const failures = failuresOf(`${stdout}${stderr}`);
  expect(failures.map((one) => one.test)).toEqual([`${file} wrong`, `${file} slow`]);
  expect(failures[0]?.output).toContain('Expected: "right"');
  expect(failures[1]?.output).toContain("timed out after 20ms");
});
