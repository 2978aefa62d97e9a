/**
 * `node build.mjs`: bundles the program into `dist/cli.js`. The packages that the program imports are not part of the bundle, because npm
 * installs them with the firehose's package.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const firehose = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const bun = join(firehose, "../../node_modules/bun/bin/bun.exe");
rmSync(join(firehose, "dist"), { recursive: true, force: true });
const { status } = spawnSync(
  bun,
  ["build", join(firehose, "src/cli.ts"), "--target=node", "--format=esm", "--packages=external", "--outdir", join(firehose, "dist")],
  { stdio: ["ignore", 2, 2] },
);
process.exit(status ?? 1);
