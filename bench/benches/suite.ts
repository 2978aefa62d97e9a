/** Measures a test suite like that of a user of the test kit: each test has a world of its own. The suite runs on Node and on Bun. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const ROOT = join(import.meta.dir, "../..");
const BUN = join(ROOT, "node_modules/bun/bin/bun.exe");
const TESTS = 200;
/** The goal for the duration of the suite, in seconds: a wait of this length does not disturb people. */
const SECONDS_MAX = 4;
/**
 * The longest allowed time of the suite with a trace, as a multiple of its time without a trace. People should not notice the trace, so that
 * they can always record it.
 */
const TRACED_MAX = 1.1;

/** Returns the source of a suite. Each test makes a world, writes and reads through the graph, and expects a webhook or a request. */
const suiteOf = (runner: string, kit: string): string => `
${runner}
import { withPlaza } from ${JSON.stringify(kit)};
const plaza = await withPlaza({ after });
const credentials = "access_token=demo-page-token&oauth_token=demo-page-token";
const headers = { authorization: "Bearer demo-page-token" };
for (let n = 1; n <= ${TESTS}; n++) {
  test("label " + n, async () => {
    const world = await plaza.newWorld();
    const labels = world.baseUrl + "/v26.0/2001/custom_labels?" + credentials;
    await fetch(labels, { method: "POST", headers, body: new URLSearchParams({ page_label_name: "label " + n }) });
    const { data } = await (await fetch(labels, { headers })).json();
    if (data.length !== 2) throw new Error(JSON.stringify(data));
    await world.requests.expect({ operation: "createLabel", match: { status: 200 } });
    await world.close();
  });
}
`;

async function secondsOf(cwd: string, command: readonly string[]): Promise<number> {
  const from = performance.now();
  const running = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0 || !new RegExp(`\\b(${TESTS} pass|pass ${TESTS})\\b`).test(stdout + stderr))
    throw new Error(`${command.join(" ")}: ${stdout}${stderr}`);
  return (performance.now() - from) / 1000;
}

export const bench: Bench = {
  summary: `The time of a suite of ${TESTS} tests, run by \`bun test\` and by \`plaza exec -- node --test\`, from the start of the command to its end; the start of the server is included. Each test begins with a copy of the demo world, and makes a write, a read and an expectation. The bench also runs the suite of \`node --test\` with a trace (\`plaza exec --trace\`).`,
  async run({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), "plaza-suite-"));
    try {
      const sources = join(ROOT, "clients/testing/index.ts");
      const kit = join(folder, "kit/testing/index.mjs");
      const built = Bun.spawnSync([BUN, "build", sources, "--target=node", "--outfile", kit], { cwd: ROOT });
      if (!built.success) throw new Error(built.stderr.toString());
      writeFileSync(join(folder, "suite.test.ts"), suiteOf('import { afterAll as after, test } from "bun:test";', sources));
      writeFileSync(join(folder, "suite.test.mjs"), suiteOf('import { after, test } from "node:test";', kit));
      const [onBun, onNode, traced]: [number[], number[], number[]] = [[], [], []];
      const exec = [join(ROOT, "bin/plaza"), "exec"];
      const suite = ["--", "node", "--test", "suite.test.mjs"];
      for (let i = 0; i < rounds; i++) {
        onBun.push(await secondsOf(folder, [BUN, "test", "./suite.test.ts"]));
        const seconds = await secondsOf(folder, [...exec, ...suite]);
        onNode.push(seconds);
        traced.push((await secondsOf(folder, [...exec, "--trace", "run.html", ...suite])) / seconds);
      }
      const goal = { at_most: SECONDS_MAX };
      return {
        metrics: [
          { name: `${TESTS} tests by bun test`, unit: "s", ...spreadOf(onBun), goal },
          { name: `${TESTS} tests by node --test`, unit: "s", ...spreadOf(onNode), goal },
          { name: "the same with a trace (--trace)", ...spreadOf(traced), goal: { at_most: TRACED_MAX } },
        ],
        absolute: [{ name: "a test by node --test", unit: "ms", ...spreadOf(onNode.map((seconds) => (seconds * 1000) / TESTS)) }],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
