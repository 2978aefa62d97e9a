import { expect, test } from "bun:test";
import { join } from "node:path";
import { needs } from "#harness/processes/needs";
import { withDist } from "./dist.ts";

needs("registry");

const ROOT = join(import.meta.dir, "../..");
/** The time limit of an installation: npm installs about 100 MB on a busy machine, after other processes have packed. */
const INSTALL_MS_MAX = 600_000;

for (const beginning of ["clone", "package"])
  test(
    `two commands lead from the ${beginning} to the first webhook in an own handler`,
    () =>
      withDist(async () => {
        const env = { ...process.env, npm_config_prefer_offline: "true" };
        const running = Bun.spawn([process.execPath, "tools/first-webhook.ts", beginning], { cwd: ROOT, env, stdout: "pipe", stderr: "pipe" });
        const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
        process.stdout.write(stdout);
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect(stdout).toContain("the first webhook has arrived");
      }),
    INSTALL_MS_MAX,
  );
