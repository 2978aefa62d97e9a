import { expect, test } from "bun:test";
import { join } from "node:path";

test("an unhandled rejection is logged, and the program continues", () => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, "stray-failure.ts")]);
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "still here\n" });
  expect(JSON.parse(stderr.toString())).toMatchObject({ level: "error", msg: "a promise was rejected that no code awaits" });
  expect(stderr.toString()).toContain("nobody waits for me");
});
