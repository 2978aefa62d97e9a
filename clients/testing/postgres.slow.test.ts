/** Runs the tests of `World` and of `storm` on a server with PostgreSQL, because some users of the test kit run Plaza on PostgreSQL. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";

const ROOT = join(import.meta.dir, "../..");

test("everything that the kit does with worlds, and storm, also works on PostgreSQL", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const files = ["world", "storm/storm"].map((name) => `./clients/testing/${name}.test.ts`);
  const bunTest = [process.execPath, "test", "--timeout=60000", ...files];
  const running = Bun.spawn([join(ROOT, "bin/plaza"), "exec", "--data", data, "--", ...bunTest], { cwd: ROOT, stdout: "ignore", stderr: "pipe" });
  const [report, code] = await Promise.all([new Response(running.stderr).text(), running.exited]);
  expect({ code, report }).toEqual({ code: 0, report: expect.stringMatching(/\n [1-9]\d* pass\n 0 fail\n/) });
}, 300_000);
