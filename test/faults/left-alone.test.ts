/** Checks that the processes that a server starts end with the server, also if it is killed before it has printed anything. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test.each(["ingest", "worker", "read-feed"])("%s ends when its server is gone, however early", async (command) => {
  for (const waitMs of [0, 20, 150]) {
    const child = spawn(process.execPath, [join(ROOT, "src/cli/plaza.ts"), command], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    await Bun.sleep(waitMs);
    child.disconnect();
    expect(await ended).toBe(1);
  }
});
